"""What a person sees of a session, from the updates alone."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.demo.palette import Palette, printable
from hermes_acp.demo.render import Conversation, diff_lines, shortened, without_fence

OPTIONS = [
    {"optionId": "a", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "r", "name": "Reject", "kind": "reject_once"},
]


def conversation() -> Conversation:
    return Conversation(Palette(colour=False), "/work dir")


def shown(*updates: dict[str, Any]) -> str:
    view = conversation()
    return "".join(map(view.update, updates)) + view.end()


def text(kind: str, words: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}


def card(status: str, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": status, **fields}


def output(words: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def diff(old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": "/work dir/a.py", "oldText": old, "newText": new}


def test_text_flows_and_thoughts_stand_apart() -> None:
    updates = [
        text("agent_thought_chunk", "Hm"),
        text("agent_thought_chunk", "m."),
        text("agent_message_chunk", "Yes."),
    ]
    assert shown(*updates) == "\nHmm.\n\nYes.\n"


def test_a_read_is_one_line_when_it_is_over() -> None:
    begun = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Read a.py", "kind": "read"}
    assert shown(begun, card("in_progress"), card("completed", content=output("1\tx"))) == "✓ Read a.py\n"


def test_a_failed_call_says_why() -> None:
    begun = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Read a.py", "kind": "read"}
    assert shown(begun, card("failed", content=output("no such file"))) == "✗ Read a.py\n  │ no such file\n"


def test_live_output_of_a_command_is_shown_once_line_by_line() -> None:
    begun = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "make", "kind": "execute", "status": "pending"}
    live = [card("in_progress", content=output(words)) for words in ("one\ntw", "one\ntwo\n", "one\ntwo\nthree")]
    end = card("completed", content=output("one\ntwo\nthree"), rawOutput={"exit_code": 0})
    lines = "● make\n  │ one\n  │ two\n  │ three\n✓ make (exit code 0)\n"
    assert shown(begun, *live, end) == lines


def test_a_question_shows_the_card_the_edit_and_numbered_choices() -> None:
    call = {"toolCallId": "1", "title": "Edit a.py", "kind": "edit", "content": [diff("a\nb\n", "a\nc\n")]}
    view = conversation()
    asked = view.question({"toolCall": call, "options": OPTIONS})
    assert asked == (
        "● Edit a.py\n  a.py\n  @@ -1,2 +1,2 @@\n   a\n  -b\n  +c\n  ? May it?\n    1 Allow once\n    2 Reject\n"
    )
    assert view.update(card("completed", content=[diff("a\nb\n", "a\nc\n")])) == "✓ Edit a.py\n"


def test_a_question_shows_the_reason_and_the_command_when_the_title_cuts_it() -> None:
    content = [*output("```\na &&\nb\n```"), *output("It changes files.")]
    whole = {"toolCallId": "1", "title": "a &&\nb", "kind": "execute", "content": content}
    asked = conversation().question({"toolCall": whole, "options": OPTIONS})
    assert asked.startswith("● a && ⏎ b\n  │ It changes files.\n  ? May it?\n")
    cut = conversation().question({"toolCall": {**whole, "title": "a …"}, "options": OPTIONS})
    assert cut.startswith("● a …\n  │ a &&\n  │ b\n  │ It changes files.\n")


def test_what_a_question_said_is_not_taken_for_output() -> None:
    call = {"toolCallId": "1", "title": "make", "kind": "execute", "content": output("It runs.")}
    view = conversation()
    view.question({"toolCall": call, "options": OPTIONS})
    assert view.update(card("in_progress")) == ""
    assert view.update(card("completed", content=output("hi"))) == "  │ hi\n✓ make\n"


def test_colours_are_of_the_palette_only() -> None:
    colourful = Conversation(Palette(colour=True), "")
    assert colourful.update(text("agent_thought_chunk", "hm")) == "\n\x1b[2;3mhm\x1b[0m"
    assert "\x1b" not in shown(text("agent_message_chunk", "\x1b]0;owned\x07\x1b[2Jhello"))


@given(st.text())
def test_nothing_of_the_agent_steers_the_terminal(words: str) -> None:
    assert not any(ord(character) < 32 and character not in "\t\n" for character in printable(words))
    updates = [text("agent_message_chunk", words), card("in_progress", kind="execute", title=words)]
    assert "\x1b" not in shown(*updates, card("failed", content=[*output(words), diff(None, words)]))


def test_a_new_file_is_all_additions() -> None:
    assert diff_lines(None, "a\nb\n") == ["@@ -0,0 +1,2 @@", "+a", "+b"]


def test_a_fence_around_output_is_not_shown() -> None:
    assert without_fence("```console\na\n```") == "a\n"
    assert without_fence("````\n```\nb") == "```\nb"
    assert without_fence("plain") == "plain"


def test_long_output_loses_its_middle() -> None:
    lines = [str(number) for number in range(10)]
    assert shortened(lines, 4) == ["0", "1", "… 6 more lines …", "8", "9"]
    assert shortened(lines, 10) == lines
