"""Streaming Markdown in passages that are whole."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.chat.passages import MOST_LINES, Passages

MARKDOWN = st.lists(
    st.sampled_from(
        ["word", "- item", "  more", "", "```python", "```", "~~~", "x = 1", "| a | b |", "# Head", "1. one"]
    ),
    max_size=30,
).map("\n".join)


def passages(text, size):
    taken, whole = Passages(), []
    for at in range(0, len(text), size):
        whole += taken.add(text[at : at + size])
    return whole + taken.end()


def test_a_paragraph_is_whole_once_the_next_one_begins():
    taken = Passages()
    assert taken.add("One\ntwo.\n\n") == []
    assert taken.tail == "One\ntwo.\n"
    assert taken.add("Th") == ["One\ntwo."]
    assert taken.add("ree") == []
    assert taken.end() == ["Three"]


def test_a_list_stays_together_over_its_blank_lines():
    assert passages("- one\n\n  more\n\n- two", 4) == ["- one\n\n  more", "- two"]


def test_a_blank_line_in_code_is_no_end():
    assert passages("```\na\n\nb\n```\n\nend", 3) == ["```\na\n\nb\n```", "end"]


def test_an_open_code_block_is_shown_as_code():
    taken = Passages()
    taken.add("```python\nx = ")
    assert taken.tail == "```python\nx = \n```"


def test_long_code_is_let_go_in_pieces():
    lines = [f"x{number} = {number}" for number in range(100)]
    whole = passages("\n".join(["```python", *lines, "```"]), 50)
    assert len(whole) > 100 // (MOST_LINES + 1)
    assert all(piece.startswith("```python\n") and piece.endswith("\n```") for piece in whole)
    code = [line for piece in whole for line in piece.splitlines()[1:-1]]
    assert code == lines


@given(MARKDOWN, st.integers(1, 7))
def test_how_the_text_is_cut_into_deltas_changes_nothing(text, size):
    assert passages(text, size) == passages(text, len(text) or 1)


@given(MARKDOWN)
def test_nothing_is_lost(text):
    kept = [line.strip() for piece in passages(text, 5) for line in piece.splitlines()]
    words = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("```", "~~~"))]
    assert [line for line in kept if line and not line.startswith(("```", "~~~"))] == words
