"""What is drawn, and what never is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.cards import Diff, ToolResult
from hermes_acp.chat.calls import EndedCall, outcome, whole
from hermes_acp.chat.drawing import Pen, printable
from hermes_acp.events import PlanEntry
from hermes_acp.host import ApprovalRequest

OURS = re.compile(r"\x1b\[[\d;]*m")
BY_OTHERS = st.text(st.sampled_from("ab *`#[](|-\n\r\t\x1b\x07\x9b]0;m?\x08\u202e\ud800"), max_size=60)
PLAIN = Pen(60, colour=False)


def request(**changes):
    asked = {"call_id": "1", "tool": "terminal", "title": "run", "kind": "execute", "effect": "execute"}
    return ApprovalRequest(**{**asked, "reason": "This runs a command.", "cwd": "/p", **changes})


def test_markdown_is_formatted():
    drawn = PLAIN.markdown(
        "## Head\n\nA **bold** `code` [link](http://a.b/).\n\n1. one\n2. two\n\n```python\nx = 1\n```"
    )
    assert drawn == "Head\n\nA bold code link (http://a.b/).\n\n 1 one\n 2 two\n\n  x = 1\n"


def test_colours_come_from_us_alone_and_can_be_left_out():
    assert OURS.search(Pen(60).markdown("A `word`."))
    assert "\x1b" not in PLAIN.markdown("A `word`.")


@given(BY_OTHERS)
def test_nothing_of_others_steers_the_terminal(text):
    pen = Pen(40)
    drawn = [
        pen.markdown(text),
        pen.said(text),
        pen.notice("warning", text, text),
        pen.plan([PlanEntry(text)]),
        pen.output(text, 5),
        outcome(pen, EndedCall(text, ToolResult(text, is_error=True))),
        whole(pen, EndedCall(text, ToolResult(text)), ""),
        pen.diffs([Diff(f"/p/{text}", text, text + "x")], "/p"),
        pen.request(request(command=text, title=text), "/p"),
        pen.question(text, [text]),
    ]
    for each in drawn:
        each.encode("utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", OURS.sub("", each))


def test_an_escape_sequence_that_was_cut_in_two_is_gone_as_a_whole():
    assert printable("a\x1b]0;" + "title\x07b") == "ab"


def test_a_question_writes_out_what_would_not_be_seen():
    drawn = PLAIN.request(request(command="rm \u202ex\x1b[8m -rf", always="this exact command"), "/p")
    assert "    rm \\u{202e}x\\u{1b}[8m -rf\n" in drawn
    assert "  in /p\n" in drawn
    assert "“session” and “always” mean this exact command." in drawn


def test_a_long_command_is_shown_whole():
    command = "\n".join(f"echo {number}" for number in range(500))
    drawn = PLAIN.request(request(command=command), "/p")
    assert all(f"    echo {number}\n" in drawn for number in range(500))


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, "a\n", ["  f (new)", "  @@ -0,0 +1 @@", "  +a"]),
        ("a\nb\n", "a\nc\n", ["  f", "  @@ -1,2 +1,2 @@", "   a", "  -b", "  +c"]),
        ("a\r\n", "b\r\n", ["  f", "  @@ -1 +1 @@", "  -a", "  +b"]),
        ("a\r\n", "a\n", ["  f", "  @@ -1 +1 @@", "  -a\\u{d}", "  +a"]),
        ("a\n", "a", ["  f", "  @@ -1 +1,2 @@", "   a", "  +(no newline at the end)"]),
    ],
    ids=["new", "changed", "CRLF", "line ends", "no end"],
)
def test_an_edit_is_a_diff(old, new, lines):
    assert PLAIN.diffs([Diff("/p/f", old, new)], "/p").splitlines() == lines


def test_an_edit_nobody_was_asked_about_is_shortened():
    drawn = PLAIN.diffs([Diff("/p/f", None, "x\n" * 500)], "/p", 60)
    assert len(drawn.splitlines()) == 62
    assert drawn.endswith("… 441 more lines (/show)\n")


def test_a_plan_shows_how_far_it_is():
    entries = [PlanEntry("a", "completed"), PlanEntry("b", "in_progress"), PlanEntry("c"), PlanEntry("d", "cancelled")]
    assert PLAIN.plan(entries) == "  ✓ a\n  ▸ b\n  ○ c\n  ✗ d\n"


@pytest.mark.parametrize("width", [10, 24, 80])
def test_no_line_is_wider_than_the_terminal(width):
    pen = Pen(width, colour=False)
    long = "word " * 40
    for drawn in (
        pen.markdown(long),
        outcome(pen, EndedCall(long, ToolResult(long, is_error=True))),
        pen.question(long, [long]),
    ):
        assert max(map(len, drawn.splitlines())) <= width


def test_what_was_said_hangs_below_its_beginning_whatever_its_characters_take():
    pen = Pen(20, colour=False)
    assert pen.said("one two three four five") == "› one two three four\n  five\n"
    assert pen.said("一二三四五六七八九十一二") == "› 一二三四五六七八九\n  十一二\n"
    assert pen.said("a\n\n  b\n") == "› a\n\n    b\n"


def test_of_a_long_paste_the_beginning_is_shown_again():
    drawn = PLAIN.said("\n".join(map(str, range(100)))).splitlines()
    assert (drawn[0], drawn[29], drawn[30], len(drawn)) == ("› 0", "  29", "  … 70 more lines", 31)
