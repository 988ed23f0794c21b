"""Plain functions on text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.text import clean, counted, first_sentence, head_and_tail, plain, shorten, shorten_words, visible

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u202e\u2066\u2800\u3164\ufe00\ufe0f\ufeff\uffa0"
    "\ufff9\ufffb\U000e0001\U000e0100\U000e01ef"
)


@given(st.text(max_size=400), st.integers(60, 200))
def test_cutting_twice_is_cutting_once_and_never_longer_than_asked(text, limit):
    cut = head_and_tail(text, limit)
    assert len(cut) <= limit
    assert head_and_tail(cut, limit) == cut
    assert cut[:5] == text[:5]
    assert cut[-5:] == text[-5:]


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_written_as_utf8(text):
    assert clean(text).encode().decode() == clean(text)


def test_escape_codes_and_controls_are_taken_out():
    assert plain("\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07plain\ttab\n") == "red plain\ttab\n"


def test_what_cannot_be_seen_is_written_out():
    shown = visible("rm \u202efdp.exe\u200b\x1b[8m")
    assert not any(character in shown for character in "\u202e\u200b\x1b")
    assert "rm " in shown


def test_a_short_text_stays_and_a_long_one_ends_in_an_ellipsis():
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"


@pytest.mark.parametrize("character", UNSEEN, ids=lambda character: f"U+{ord(character):04X}")
def test_a_character_that_is_not_seen_is_written_out(character: str) -> None:
    assert visible(f"rm{character}x") == f"rm\\u{{{ord(character):x}}}x"


def test_an_escape_is_not_what_the_same_text_typed_is() -> None:
    assert visible("echo \u200b") == r"echo \u{200b}"
    assert visible(r"echo \u{200b}") == r"echo \u{5c}u{200b}"


def test_other_backslashes_stay_as_they_are() -> None:
    assert visible(r"grep '\bu{2}\n' \user") == r"grep '\bu{2}\n' \user"


@given(st.lists(st.sampled_from(["\\", "u", "{", "}", "2", "\u200b", "\u202e", "a"])), st.data())
def test_two_texts_never_look_the_same(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    other = "".join(data.draw(st.permutations(parts)))
    assert text == other or visible(text) != visible(other)


def test_a_number_stands_with_its_noun():
    assert [counted(number, "entry", "entries") for number in (0, 1, 2)] == ["0 entries", "1 entry", "2 entries"]
    assert [counted(number, "file") for number in (1, 1_000)] == ["1 file", "1,000 files"]


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two, three", 10, "one two…"),
        ("a" * 20, 10, "a" * 9 + "…"),
        ("a " + "b" * 20, 12, "a " + "b" * 9 + "…"),
    ],
)
def test_no_word_is_cut_in_two_unless_it_is_nearly_all_there_is(text, limit, cut):
    assert shorten_words(text, limit) == cut
    assert len(cut) <= limit


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Replace text\nin a file. It must\nbe there.", "Replace text in a file."),
        ("Lists files: a.py, b.py\n\nMore.", "Lists files: a.py, b.py"),
        ("Reads 1.5 MB, e.g. A.txt. Then ends.", "Reads 1.5 MB, e.g. A.txt."),
        ("", ""),
    ],
)
def test_the_first_sentence_ends_where_the_next_begins(text, sentence):
    assert first_sentence(text, 100) == sentence
