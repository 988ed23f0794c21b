"""Texts that arrive interleaved are shown whole, one after the other, and nothing of them twice."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.passages import BETWEEN, Passages


def test_a_passage_is_shown_as_it_comes():
    texts = Passages()
    assert [texts.add((0, 0), piece) for piece in ("one ", "two")] == ["one ", "two"]
    assert texts.close() == ""
    assert texts.text == "one two"


def test_a_later_passage_waits_for_the_end_of_the_one_before_it():
    texts = Passages()
    assert texts.add((0, 0), "Hel") == "Hel"
    assert texts.add((1, 0), "wor") == ""
    assert texts.add((0, 0), "lo") == "lo"
    assert texts.complete((0, 0), "Hello") == BETWEEN + "wor"
    assert texts.add((1, 0), "ld") == "ld"
    assert texts.text == f"Hello{BETWEEN}world"
    assert (texts.length(0), texts.length(1)) == (5, 5)


def test_the_next_part_of_an_item_ends_the_part_before_it():
    texts = Passages()
    shown = [texts.add((0, part), text) for part, text in ((0, "a"), (1, "b"), (1, "c"))]
    assert shown == ["a", BETWEEN + "b", "c"]
    assert texts.length(0) == len(texts.text)


def test_what_the_pieces_left_out_is_shown_once_the_whole_is_known():
    texts = Passages()
    texts.add((0, 0), "one ")
    assert texts.complete((0, 0), "one two") == "two"
    assert texts.complete((0, 0), "one two") == ""
    assert texts.complete((1, 0), "three") == BETWEEN + "three"


def test_a_passage_that_began_otherwise_stays_as_it_was_shown():
    texts = Passages()
    texts.add((0, 0), "one")
    assert texts.complete((0, 0), "two") == ""
    assert texts.text == "one"


def test_a_pair_of_surrogates_cut_in_two_is_joined_and_a_half_at_the_end_replaced():
    texts = Passages()
    assert texts.add((0, 0), "a\ud83c") == "a"
    assert texts.add((0, 0), "\udf0d\ud83d") == "🌍"
    assert texts.complete((0, 0), "a\ud83c\udf0d\ud83d") == "\ufffd"


pieces = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from(["a", "bc", " ", "\ud83c", "\udf0d", "é"])),
    max_size=12,
)


@given(pieces, st.lists(st.tuples(st.integers(0, 2), st.text("abc", max_size=3)), max_size=3))
def test_what_is_shown_is_the_text_and_its_lengths_add_up(told, wholes):
    texts = Passages()
    shown = [texts.add((item, part), piece) for item, part, piece in told]
    shown += [texts.complete((item, 0), whole) for item, whole in wholes]
    shown.append(texts.close())
    assert "".join(shown) == texts.text
    texts.text.encode()
    for _, _, piece in told:
        assert not piece.isascii() or piece in texts.text


@given(st.permutations([0, 0, 1, 1, 2, 2]))
def test_interleaved_items_come_out_whole_and_none_is_lost(order):
    texts, come = Passages(), {0: "", 1: "", 2: ""}
    for item in order:
        piece = f"<{item}:{len(come[item])}>"
        come[item] += piece
        texts.add((item, 0), piece)
    texts.close()
    assert sorted(texts.text.split(BETWEEN)) == sorted(come.values())
