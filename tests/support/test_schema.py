"""The rules of the wire must find what is wrong, or the tests that lean on them prove nothing."""

from __future__ import annotations

from typing import Any

from tests.support.schema import Dialogue, check_line, faults, strange_members


def request(id_: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def answer(id_: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def update(kind: str, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


CHUNK = update("agent_message_chunk", content={"type": "text", "text": "x"}, messageId="m")
PERMISSION = request(
    1,
    "session/request_permission",
    sessionId="s",
    toolCall={"toolCallId": "c"},
    options=[{"optionId": "o", "name": "O", "kind": "allow_once"}],
)


def dialogue(*said: dict[str, Any], **capabilities: Any) -> Dialogue:
    found = Dialogue()
    hello = request("hello", "initialize", protocolVersion=1, clientCapabilities=capabilities)
    for message in (hello, *said):
        found.editor_says(message)
    return found


def test_valid_lines_have_no_faults() -> None:
    found = dialogue(request(5, "session/prompt", sessionId="s", prompt=[]))
    for line in (CHUNK, PERMISSION, answer(5, stopReason="end_turn")):
        assert not found.agent_says(line), line


def test_a_wrong_field_of_an_update_is_found() -> None:
    bad = update("agent_message_chunk", content={"type": "text"})
    assert dialogue(request(5, "session/prompt", sessionId="s")).agent_says(bad)
    assert dialogue().agent_says(update("no_such_kind"))


def test_a_wrong_result_is_found() -> None:
    assert dialogue(request(5, "session/prompt", sessionId="s")).agent_says(answer(5, stopReason="bored"))
    assert check_line("answer", "session/new", answer(1))
    assert check_line("answer", "session/load", {"jsonrpc": "2.0", "id": 1, "result": None})


def test_a_wrong_envelope_is_found() -> None:
    assert dialogue().agent_says([])
    assert dialogue(request(5, "logout")).agent_says({"id": 5, "result": {}})
    assert dialogue(request(5, "logout")).agent_says({"jsonrpc": "2.0", "id": 5})
    assert dialogue(request(5, "logout")).agent_says({"jsonrpc": "2.0", "id": 5, "error": {"code": "x"}})


def test_an_answer_that_nobody_asked_for_or_that_comes_twice_is_found() -> None:
    found = dialogue(request(5, "logout"))
    assert not found.agent_says(answer(5))
    assert found.agent_says(answer(5))
    assert found.agent_says(answer("5"))
    assert not found.agent_says({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}})


def test_an_update_of_a_turn_that_is_over_is_found() -> None:
    found = dialogue(request(5, "session/prompt", sessionId="s"))
    assert not found.agent_says(CHUNK)
    found.agent_says(answer(5, stopReason="end_turn"))
    assert found.agent_says(CHUNK)
    found.editor_says(request(6, "session/load", sessionId="s", cwd="/", mcpServers=[]))
    assert not found.agent_says(CHUNK)


def card(id_: str, status: str, kind: str = "tool_call_update") -> dict[str, Any]:
    return update(kind, toolCallId=id_, status=status, title="Read")


def test_a_card_that_is_changed_after_its_end_or_before_it_was_begun_is_found() -> None:
    dialogue = Dialogue()
    dialogue.editor_says(request(1, "session/prompt", sessionId="s", prompt=[]))
    assert dialogue.agent_says(card("a", "in_progress")) == ["card a is changed and was never begun"]
    assert dialogue.agent_says(card("b", "pending", "tool_call")) == []
    assert dialogue.agent_says(card("b", "failed")) == []
    assert dialogue.agent_says(card("b", "completed")) == ["card b is changed after its end"]


def test_a_card_that_is_open_when_its_prompt_is_answered_is_found() -> None:
    dialogue = Dialogue()
    dialogue.editor_says(request(1, "session/prompt", sessionId="s", prompt=[]))
    assert dialogue.agent_says(card("a", "pending", "tool_call")) == []
    assert dialogue.agent_says(answer(1, stopReason="end_turn")) == ["card a is left pending"]


def test_a_call_that_the_editor_does_not_offer_is_found() -> None:
    read = request(1, "fs/read_text_file", sessionId="s", path="/a")
    assert dialogue().agent_says(read)
    assert not dialogue(fs={"readTextFile": True}).agent_says(read)
    wait = request(1, "terminal/wait_for_exit", sessionId="s", terminalId="t")
    assert dialogue().agent_says(wait)
    assert not dialogue(terminal=True).agent_says(wait)
    form = request(1, "elicitation/create", mode="form", sessionId="s", message="m", requestedSchema={"properties": {}})
    assert dialogue(elicitation={"url": {}}).agent_says(form)
    assert not dialogue(elicitation={"form": {}}).agent_says(form)
    notice = update("notice", severity="info", title="t")
    assert dialogue().agent_says(notice)
    assert not dialogue(session={"notices": {}}).agent_says(notice)


def test_an_id_used_again_while_it_is_open_is_found() -> None:
    found = dialogue()
    assert not found.agent_says(PERMISSION)
    assert found.agent_says(PERMISSION)


def test_methods_that_do_not_exist_are_found_and_extensions_are_not() -> None:
    assert dialogue().agent_says(request(1, "session/ask"))
    assert dialogue().agent_says({"jsonrpc": "2.0", "method": "session/prompt", "params": {}})
    assert not dialogue().agent_says({"jsonrpc": "2.0", "method": "_hermes/status", "params": {}})
    assert not dialogue().agent_says({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})


def test_a_member_that_the_protocol_does_not_know_is_found_at_every_depth() -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x", "extra": 1}}
    said = {"sessionId": "s", "update": chunk, "_meta": {"anything": {"goes": 1}}}
    assert strange_members("SessionNotification", said) == ["/update/content/extra"]
    card = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawOutput": {"free": {"form": 1}}, "own": 1}
    assert strange_members("SessionNotification", {"sessionId": "s", "update": card}) == ["/update/own"]
    options = [{"optionId": "o", "name": "O", "kind": "allow_once", "color": "red"}]
    asked = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options}
    assert strange_members("RequestPermissionRequest", asked) == ["/options/0/color"]


def test_unstable_methods_are_checked_by_their_own_schema() -> None:
    assert check_line("answer", "session/fork", answer(1))
    assert not check_line("answer", "session/fork", answer(1, sessionId="s"))


def test_a_definition_is_checked_with_all_that_it_refers_to() -> None:
    assert faults("SessionUpdate", {"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "urgent"}]})
