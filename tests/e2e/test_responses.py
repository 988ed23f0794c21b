"""Turns of an agent that speaks the Responses API, as the editor, the model server and the disk see them."""

import asyncio

import pytest

from tests.fakes.model_server import Call, ModelServer, Say
from tests.support.editor import open_editor
from tests.support.talk import open_params

MODE = {"HERMES_ACP_API_MODE": "codex_responses"}


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url, **MODE) as editor:
        await editor.initialize()
        yield editor


def kinds(request):
    return [item["type"] for item in request.body["input"]]


async def test_a_turn_thinks_reads_edits_and_answers(editor, model, project):
    (project / "a.txt").write_text("one\n")
    model.say(
        Say("I look.", [Call("read_file", {"path": "a.txt"})], "hm hm"),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})], reasoning="so"),
        Say(["Do", "ne."]),
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "edit it") == "end_turn"
    assert (project / "a.txt").read_text() == "two\n"
    assert editor.text(session) == "I look.Done."
    assert editor.text(session, "agent_thought_chunk") == "hm hmso"
    ended = [update for update in editor.updates(session) if update.get("status") in ("completed", "failed")]
    assert [update["status"] for update in ended] == ["completed", "completed"]
    assert [request.path for request in model.requests] == ["/v1/responses"] * 3
    step = ["reasoning", "function_call", "function_call_output"]
    assert kinds(model.requests[2]) == ["message", "reasoning", "message", *step[1:], *step]
    assert model.requests[0].headers["authorization"] == "Bearer sk-test-0123456789"


async def test_l9_reasoning_goes_on_with_a_session_and_never_stands_alone(tmp_path, editor, model, project):
    call = Call("terminal", {"command": "sleep 60"})
    model.say(Say(calls=[call], reasoning="hm"))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "wait")
    await editor.wait_update(lambda update: update.get("status") == "in_progress")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await asyncio.wait_for(prompt, 10))["stopReason"] == "cancelled"
    assert await editor.prompt(session, "go on") == "end_turn"
    assert kinds(model.requests[1])[:4] == ["message", "reasoning", "function_call", "function_call_output"]
    await editor.close()
    async with ModelServer() as other, open_editor(tmp_path / "home", other.url, **MODE) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        assert await second.prompt(session, "and now?") == "end_turn"
        assert await second.prompt(session, "and then?") == "end_turn"
        asked = [kinds(request).count("reasoning") for request in other.requests]
        assert asked == [1, 0, 0]
        assert len(other.problems) == 1
