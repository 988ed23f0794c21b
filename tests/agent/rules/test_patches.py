"""The edit that turns one text into another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.rules.patches import smallest_patch

LINES = st.lists(st.sampled_from(["", "a", "b = 1", "b = 10", "  return x"]), min_size=1, max_size=8)


@given(LINES, LINES)
def test_the_patch_is_found_once_and_gives_the_other_text(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    patch = smallest_patch(before, after)
    if before.strip() and before != after:
        assert before.count(patch["old_text"]) == 1
        assert before.replace(patch["old_text"], patch["new_text"]) == after


def test_one_changed_line_is_the_whole_patch() -> None:
    patch = smallest_patch("a\nb\nc\n", "a\nB\nc\n")
    assert patch == {"old_text": "b", "new_text": "B"}


def test_a_line_that_occurs_twice_gets_its_neighbours() -> None:
    before = "def f():\n    return 1\n\ndef g():\n    return 1\n"
    patch = smallest_patch(before, "def f():\n    return 1\n\ndef g():\n    return 2\n")
    assert patch == {"old_text": "def g():\n    return 1", "new_text": "def g():\n    return 2"}


def test_a_line_that_is_taken_out_leaves_no_blank_one() -> None:
    patch = smallest_patch("a\nb\nc\n", "a\nc\n")
    assert "a\nb\nc\n".replace(patch["old_text"], patch["new_text"]) == "a\nc\n"
