"""What is sent: every builder against the schema, with and without what may be left out."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol import outbound as out
from tests.support.schema import definitions, faults, name_of

BLOCKS = [
    out.text_block("hello"),
    out.image_block("aGk=", "image/png"),
]
CONTENT = [
    out.text_content("done"),
    out.diff_content("/a", None, "new"),
    out.diff_content("/a", "old", "new"),
    out.terminal_content("t1"),
]
CARD: dict[str, Any] = {
    "name": "edit_file",
    "kind": "edit",
    "status": "completed",
    "content": CONTENT,
    "locations": [out.location("/a"), out.location("/a", 3)],
    "raw_input": {"path": "/a"},
    "raw_output": {"ok": True},
}
CHOICES = [out.choice("a", "A"), out.choice("b", "B", description="the other")]
UPDATES = [
    *(out.user_message_chunk(block, "m1") for block in BLOCKS),
    out.agent_message_chunk("hello", "m2"),
    out.agent_thought_chunk("hm", "m3"),
    out.tool_call("c1", "Edit a"),
    out.tool_call("c1", "Edit a", **CARD),
    out.tool_call_update("c1"),
    out.tool_call_update("c1", title="Edit b", **CARD),
    out.plan([]),
    out.plan([("look", "high", "in_progress"), ("act", "medium", "pending")]),
    out.available_commands_update([out.command("help", "Show help"), out.command("model", "Switch", hint="name")]),
    out.current_mode_update("ask"),
    out.config_option_update([]),
    out.config_option_update(
        [out.select_option("mode", "Mode", current="a", choices=CHOICES, category="mode", description="What runs")]
    ),
    out.session_info_update("A title"),
    out.session_info_update("A title", updated_at="2026-01-02T03:04:05Z"),
    out.session_info_update(None),
    out.usage_update(10, 1000),
    out.usage_update(10, 1000, 0.25),
    out.notice("warning", "Look out"),
    out.notice("error", "Look out", "Something failed."),
    out.compaction_update("k1", "in_progress"),
    out.compaction_update("k1", "completed", summary=[out.text_block("short")]),
    out.compaction_update("k1", "failed", error="no room"),
]
FORM = {"answer": {"type": "string", "title": "Answer"}}
PERMISSION_OPTIONS = [
    out.permission_option(kind, kind, kind) for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
]
REQUESTS = [
    ("session/request_permission", out.request_permission("s", out.permission_card("c1", **CARD), PERMISSION_OPTIONS)),
    ("fs/read_text_file", out.read_text_file("s", "/a")),
    ("fs/write_text_file", out.write_text_file("s", "/a", "text")),
    (
        "terminal/create",
        out.create_terminal("s", "sh", ["-c", "ls"], cwd="/a", env={"A": "b"}, output_byte_limit=1000),
    ),
    ("terminal/output", out.terminal("s", "t1")),
    ("terminal/release", out.terminal("s", "t1")),
    ("terminal/wait_for_exit", out.terminal("s", "t1")),
    ("terminal/kill", out.terminal("s", "t1")),
    ("elicitation/create", out.elicitation_form("s", "Which?", FORM, required=["answer"])),
    ("elicitation/create", out.elicitation_form("s", "Which?", FORM, required=[], call_id="c1")),
]


@pytest.mark.parametrize("body", UPDATES, ids=lambda body: str(body["sessionUpdate"]))
def test_every_update_is_valid(body: dict[str, Any]) -> None:
    assert not faults("SessionNotification", out.update("s", body))


def test_every_kind_of_update_can_be_built_but_pieces_of_summaries_which_come_whole() -> None:
    kinds = {each["properties"]["sessionUpdate"]["const"] for each in definitions()["SessionUpdate"]["oneOf"]}
    assert kinds == {body["sessionUpdate"] for body in UPDATES} | {"compaction_summary_chunk"}


@pytest.mark.parametrize(("method", "params"), REQUESTS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_request_is_valid(method: str, params: dict[str, Any]) -> None:
    name = name_of(method, "Request")
    assert name is not None
    assert not faults(name, params)


def test_every_request_of_the_protocol_can_be_built() -> None:
    ours = {
        value["x-method"]
        for name, value in definitions().items()
        if value.get("x-side") == "client" and name.endswith("Request")
    }
    assert ours == {method for method, _ in REQUESTS}


def test_the_parts_of_answers_are_valid() -> None:
    session = out.session_info("s", "/a", roots=["/b"], title="T", updated_at="2026-01-02T03:04:05Z")
    assert not faults("ListSessionsResponse", {"sessions": [session, out.session_info("s", "/a")]})
    modes = out.modes("a", [out.mode("a", "A"), out.mode("b", "B", description="the other")])
    assert not faults("NewSessionResponse", {"sessionId": "s", "modes": modes})


def test_no_field_is_added_that_the_protocol_does_not_have() -> None:
    """The schema takes unknown fields in, so their absence is checked here (ACP: only in `_meta`)."""
    known = {name for value in definitions().values() for name in member_names(value)}
    for body in [*UPDATES, *(params for _, params in REQUESTS)]:
        free = {"rawInput", "rawOutput", "properties"}
        assert keys(body, free) <= known


def member_names(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {name for item in schema for name in member_names(item)}
    if not isinstance(schema, dict):
        return set()
    found = schema.get("properties")
    own = set(found) if isinstance(found, dict) else set()
    return own | {name for item in schema.values() for name in member_names(item)}


def keys(value: Any, free: set[str]) -> set[str]:
    if isinstance(value, list):
        return {key for item in value for key in keys(item, free)}
    if not isinstance(value, dict):
        return set()
    inner = {key for name, item in value.items() if name not in free for key in keys(item, free)}
    return set(value) | inner


def test_what_is_unknown_is_left_out_and_what_null_says_is_kept() -> None:
    assert out.tool_call_update("c1", status="failed") == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c1",
        "status": "failed",
    }
    assert out.diff_content("/a", None, "new")["oldText"] is None
    assert out.session_info_update(None) == {"sessionUpdate": "session_info_update", "title": None}
    assert out.session_info_update("T") == {"sessionUpdate": "session_info_update", "title": "T"}
    assert out.tool_call_update("c1", content=[])["content"] == []


@given(st.text(), st.text(min_size=1))
def test_any_text_makes_a_valid_chunk(text: str, message_id: str) -> None:
    for build in (out.agent_message_chunk, out.agent_thought_chunk):
        body = build(text, message_id)
        assert not faults("SessionUpdate", body)
        assert (body["content"]["text"], body["messageId"]) == (text, message_id)


def test_the_extension_notifications_have_their_fields() -> None:
    assert out.status("s", "calling", "model") == {"sessionId": "s", "kind": "calling", "text": "model"}
    step = out.step("s", 1, 500, [{"name": "read_file", "isError": False}])
    assert set(step) == {"sessionId", "apiCalls", "maxApiCalls", "tools"}


def test_every_builder_says_what_it_builds() -> None:
    builders = [each for _, each in inspect.getmembers(out, inspect.isfunction) if each.__module__ == out.__name__]
    assert all(builder.__doc__ for builder in builders if not builder.__name__.startswith("_"))
