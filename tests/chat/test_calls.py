"""What is seen of a call of a tool that has ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_acp.cards import Diff, ToolResult
from hermes_acp.chat.calls import EndedCall, outcome, whole
from hermes_acp.chat.cells import cut_end, cut_middle
from hermes_acp.chat.drawing import Pen
from hermes_acp.events import ToolPrepared

PEN = Pen(60, colour=False)


def command(line, output, code=0, width=60):
    raw = {"exit_code": code, "sandbox": "In the sandbox."}
    prepared = ToolPrepared("c", "terminal", "execute", line, {"command": line})
    return EndedCall("terminal", ToolResult(f"{output}\n[exit code {code}]", bool(code), raw=raw), 2.0, prepared)


def test_a_call_is_one_line_with_how_it_ended():
    assert outcome(PEN, command("pytest", "(no output)")) == "✓ pytest · in the sandbox · 2.0 s\n"
    assert outcome(PEN, command("pytest", "(no output)", 1)) == "✗ pytest · exit 1 · in the sandbox · 2.0 s\n"
    assert outcome(PEN, EndedCall("Read\na.txt", ToolResult("text"))) == "✓ Read ⏎ a.txt\n"


def test_why_it_failed_is_told_below_in_whole_words():
    call = EndedCall("Read a.txt", ToolResult("\n" + "There is no such file. " * 4 + "\nMore", is_error=True))
    first, *reason = outcome(PEN, call).splitlines()
    assert first == "✗ Read a.txt"
    assert " ".join(reason).split() == ["There", "is", "no", "such", "file."] * 4
    assert all(line.startswith("  ") and len(line) <= 60 for line in reason)


def test_of_a_long_title_the_end_stays_and_what_came_of_it_is_never_cut():
    line = "cd a/long/way/down && python -m pytest tests/one/of/many/test_last.py"
    assert outcome(Pen(80, False), command(line, "(no output)", 2)) == (
        "✗ cd a/long/way/dow…s/one/of/many/test_last.py · exit 2 · in the sandbox · 2.0 s\n"
    )
    assert outcome(Pen(40, False), command(line, "(no output)", 2)) == (
        "✗ cd a/long/way/…ne/of/many/test_last.py\n  exit 2 · in the sandbox · 2.0 s\n"
    )


@pytest.mark.parametrize(("code", "shown"), [(0, 3), (1, 8)])
def test_the_last_lines_of_a_command_stay_more_when_it_failed(code, shown):
    lines = [str(number) for number in range(30)]
    drawn = outcome(PEN, command("seq", "\n".join(lines), code)).splitlines()
    assert drawn[1] == f"  │ … {30 - shown} lines before (/show)"
    assert drawn[2:] == [f"  │ {line}" for line in lines[-shown:]]


def test_one_line_more_is_shown_rather_than_counted():
    assert outcome(PEN, command("seq", "1\n2\n3\n4")).splitlines()[1:] == ["  │ 1", "  │ 2", "  │ 3", "  │ 4"]


def test_nothing_is_cut_where_all_of_it_is_shown():
    line = "echo " + " ".join(f"word{number}" for number in range(50))
    drawn = whole(PEN, command(line, "\n".join(map(str, range(200))) + "\n" + "long" * 40), "")
    said = drawn.split()
    assert [word for word in said if word.startswith("word")] == [f"word{number}" for number in range(50)]
    assert {str(number) for number in range(200)} <= {*said}
    assert "long" * 40 in drawn.replace("\n  ", "")
    assert "exit code" not in drawn


def test_arguments_and_edits_are_shown_whole():
    prepared = ToolPrepared("c", "mcp__a__b", "other", "a: b", {"name": "x" * 10, "n": 1})
    assert '"name": "xxxxxxxxxx"' in whole(PEN, EndedCall("b", ToolResult("ok"), 0.0, prepared), "")
    diff = Diff("/p/a.txt", None, "".join(f"{number}\n" for number in range(100)))
    drawn = whole(PEN, EndedCall("write_file", ToolResult("made", diffs=(diff,))), "/p")
    assert drawn.count("  +") == 100
    assert "more lines" not in drawn


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60), st.integers(0, 40))
def test_a_cut_line_fits_whatever_its_characters_take(text, columns):
    for cut in (cut_middle, cut_end):
        found = cut(text, columns)
        assert cell_len(found) <= columns
        assert found == text or cell_len(text) > columns


@given(st.text(st.sampled_from("ab漢字🙂"), min_size=30, max_size=60), st.integers(12, 40))
def test_of_a_cut_line_both_ends_are_there(text, columns):
    begun, _, end = cut_middle(text, columns).partition("…")
    assert text.startswith(begun)
    assert text.endswith(end)
    assert cell_len(end) >= cell_len(begun)


def test_lines_are_not_counted_where_the_middle_of_an_output_is_missing():
    cut = "1\n[… 90000 characters left out …]\n" + "\n".join(map(str, range(20)))
    assert outcome(PEN, command("seq", cut)).splitlines()[1] == "  │ … more before (/show)"
