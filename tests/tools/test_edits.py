"""Edits of a text: several at once, near matches, and never a character beside what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.tools.edits import Edit, apply


def edited(text: str, *edits: tuple[str, str], newline: str = "\n") -> str:
    return apply(text, [Edit(old, new) for old, new in edits], newline).text


def test_several_edits_are_found_in_the_text_as_it_was_whatever_their_order() -> None:
    text = "one\ntwo\nthree\n"
    assert edited(text, ("three", "one"), ("one", "two"), ("two", "three")) == "two\nthree\none\n"
    assert apply(text, [Edit("three", "3"), Edit("one", "1")], "\n").lines == (1, 3)


def test_several_edits_of_a_file_with_mixed_line_ends_touch_only_their_lines() -> None:
    text = "one\r\ntwo\nthree\rfour\r\n"
    assert edited(text, ("three\nfour", "3\n4"), ("one", "1\n1.5"), newline="\r\n") == "1\r\n1.5\r\ntwo\n3\r4\r\n"


def test_edits_that_touch_are_made_and_edits_that_overlap_are_refused() -> None:
    assert edited("abcd", ("ab", "x"), ("cd", "y")) == "xy"
    with pytest.raises(ToolError, match="Edits 1 and 2 overlap at line 2"):
        edited("a\nbcd\n", ("bc", "x"), ("cd", "y"))


def test_an_edit_of_every_place_does_not_overlap_another() -> None:
    with pytest.raises(ToolError, match="overlap"):
        apply("a b a c", [Edit("a", "x", everywhere=True), Edit("a c", "y")], "\n")
    assert apply("a b a c", [Edit("a", "x", everywhere=True), Edit("c", "y")], "\n").text == "x b x y"


def test_a_fault_names_the_edit_it_is_in() -> None:
    with pytest.raises(ToolError, match="Edit 2 of 2: old_text occurs 2 times"):
        edited("a b b", ("a", "x"), ("b", "y"))


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("def f():  \n    return 1\t\n", "def f():\n    return 1\n", "x\n", "x\n"),
        ("a\nb\n", "a  \nb", "c", "c\n"),
        ("say(“hi”) — now\n", 'say("hi") - now', "x", "x\n"),
        ("it’s a\u00a0b\n", "it's a b", "c", "c\n"),
        ("a\n    if x:\n        y()\nz\n", "if x:\n    y()", "if x:\n    w()\n\n    v()", None),
        ("  a\n  b\n", "    a\n    b\n", "    a\n      c\n", "  a\n    c\n"),
        ("\ta\n\t\tb\n", "a\n\tb\n", "a\n\tc\n", "\ta\n\t\tc\n"),
        ("x\n  a  \n\n  b\ny", "a\n\nb", "c\n\nd", "x\n  c\n\n  d\ny"),
        ("x\n\n  a\n", "\n    a\n", "\n    b\n", "x\n\n  b\n"),
        ("“a”\r\n“b”\r\n", '"a"\n"b"', "c\nd", "c\r\nd\r\n"),
    ],
)
def test_a_match_that_differs_only_in_what_does_not_show_is_taken_when_it_is_the_only_one(
    text: str, old: str, new: str, after: str | None
) -> None:
    done = apply(text, [Edit(old, new)], "\r\n" if "\r" in text else "\n")
    assert done.text == (after or "a\n    if x:\n        w()\n\n        v()\nz\n")
    assert len(done.loose) == 1


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("foo   bar baz", "foo bar", "does not occur"),
        ("  a\n  b\n    a\n    b\n", "a\nb\n", "nearly occurs 2 times .lines 1, 3."),
        ("“a” and ”a“", '"a"', "nearly occurs 2 times .lines 1, 1."),
        ("  a\n    b\n", "a\nb", "Only white space differs"),
        ("\ta\n\tb\n", "    a\n    b", "Only white space differs"),
        ("foobar\n", "foo  ", "does not occur"),
        ("a", "a\n", "nearest place"),
        ("a\n", "    a\n", "cannot be indented"),
    ],
)
def test_what_differs_in_more_or_is_not_the_only_one_is_refused(text: str, old: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        edited(text, (old, "  new\n"))


def test_an_exact_match_is_never_given_up_for_a_near_one() -> None:
    done = apply('“a”\n"a"\n  b\nb \n', [Edit('"a"', "c"), Edit("  b\n", "d\n")], "\n")
    assert (done.text, done.loose) == ("“a”\nc\nd\nb \n", ())


def test_many_lines_that_are_alike_take_no_long_time() -> None:
    text = "  x\n" * 50_000 + "y\n"
    with pytest.raises(ToolError):
        edited(text, ("x\n" * 20_000 + "z\n", "new"))
    with pytest.raises(ToolError, match="500 or more times"):
        edited("a" * 1_000_000, ("a" * 1000, "b"))


PIECES = st.text(alphabet="ab \t\n\r“”é", max_size=12)
LITERAL = st.text(alphabet="\\1$&g<0>{}x", min_size=1, max_size=12)


@given(PIECES, PIECES, PIECES, LITERAL, LITERAL)
def test_what_is_not_edited_stays_and_what_is_put_in_is_literal(
    before: str, between: str, after: str, first: str, second: str
) -> None:
    text = f"{before}<1>{between}<2>{after}"
    assert edited(text, ("<2>", second), ("<1>", first)) == f"{before}{first}{between}{second}{after}"


@given(st.lists(st.sampled_from(["a", "b", "  a", "\tb", "a  ", "“a”", "", " "]), max_size=8), st.booleans())
def test_a_near_match_changes_only_lines_that_look_like_the_old_ones(lines: list[str], two: bool) -> None:
    text, old = "\n".join(lines), '"a"\nb' if two else "    a"
    try:
        now = edited(text, (old, "    NEW")).split("\n")
    except ToolError:
        return
    at = next(number for number, line in enumerate(now) if line.strip() == "NEW")
    gone = 2 if two else 1
    assert now[:at] == lines[:at]
    assert now[at + 1 :] == lines[at + gone :]
    assert [line.strip().strip("“”") for line in lines[at : at + gone]] == (["a", "b"] if two else ["a"])
