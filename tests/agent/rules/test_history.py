"""What the rules read in the messages of a turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.rules.history import file_text, listed_files, read_history
from hermes_acp.agent.rules.moves import next_move
from hermes_acp.messages import AssistantMessage, Message, ToolCall, ToolMessage, user

ALL_TOOLS = frozenset({"list_files", "read_file", "patch", "terminal"})


def done(name: str, text: str, *, is_error: bool = False, **arguments: str) -> list[Message]:
    call = ToolCall(f"call_{name}_{len(text)}", name, arguments)
    return [AssistantMessage(tool_calls=(call,)), ToolMessage(call.id, name, text, is_error)]


def test_a_listing_gives_files_and_no_folders_or_notes() -> None:
    text = "a b.py\nlib/\nlib/deep/ (3 files)\nlib/x.py\n[2 more entries; narrow the path or glob]"
    assert listed_files(text) == ["a b.py", "lib/x.py"]
    assert listed_files("(no files, or only hidden and ignored ones)") == []


def test_a_file_is_read_without_its_numbers_and_only_when_it_is_whole() -> None:
    assert file_text("     1\tdef f():\n     2\t\treturn 1") == "def f():\n\treturn 1\n"
    assert file_text("(the file is empty)") == ""
    assert file_text("     1\ta\n\n[lines 1-1 of 9 are shown; read on with offset=2]") is None


def test_only_the_newest_prompt_counts() -> None:
    messages = [user("repair"), *done("list_files", "old.py"), user("hello")]
    history = read_history(messages)
    assert (history.prompt, history.listing) == ("hello", None)


def test_an_edit_that_was_refused_stops_the_work_and_says_why() -> None:
    messages = [
        user("repair the tests"),
        *done("list_files", "test_a.py"),
        *done("patch", "The person rejected this edit.", is_error=True, path="a.py", old_text="1", new_text="2"),
    ]
    move = next_move(read_history(messages), ALL_TOOLS)
    assert not move.calls
    assert "The person rejected this edit." in move.text


def test_python3_is_tried_where_there_is_no_python() -> None:
    messages = [
        user("repair the tests"),
        *done("list_files", "test_a.py"),
        *done("terminal", "sh: 1: python: not found\n[exit code 127]", is_error=True),
    ]
    (call,) = next_move(read_history(messages), ALL_TOOLS).calls
    assert call == ("terminal", {"command": "python3 -B -m unittest"})


def test_tests_in_a_folder_that_is_no_package_are_discovered_there() -> None:
    messages = [user("repair the tests"), *done("list_files", "a.py\ntests/\ntests/test_a.py")]
    (call,) = next_move(read_history(messages), ALL_TOOLS).calls
    assert call == ("terminal", {"command": "python -B -m unittest discover -s tests"})


def test_a_mode_without_edits_is_said_to_be_in_the_way() -> None:
    messages = [user("repair the tests"), *done("list_files", "test_a.py")]
    move = next_move(read_history(messages), frozenset({"list_files", "read_file"}))
    assert not move.calls
    assert "in this mode" in move.text


@given(st.lists(st.tuples(st.sampled_from(sorted(ALL_TOOLS)), st.text(), st.booleans()), max_size=6))
def test_whatever_the_tools_said_there_is_a_next_move(results: list[tuple[str, str, bool]]) -> None:
    messages: list[Message] = [user("repair the tests"), *done("list_files", "a.py\ntest_a.py")]
    for name, text, is_error in results:
        messages += done(name, text, is_error=is_error, path="a.py", old_text="a", new_text="b")
    assert next_move(read_history(messages), ALL_TOOLS).text
