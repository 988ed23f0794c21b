"""Background commands of a session: they outlive the turn, and nothing that ends the session."""

import asyncio
import os
import signal

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor
from tests.support.processes import processes_tagged

pytestmark = pytest.mark.slow

LINE = "trap '' TERM; while :; do sleep 300; done"


def calls(name, **arguments):
    return Say(calls=[Call(name, arguments)])


@pytest.fixture(params=["never", "auto"])
async def editor(request, tmp_path, model):
    """Without a sandbox, and with one where there is one."""
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_SANDBOX=request.param) as editor:
        await editor.initialize()
        yield editor


def children(editor):
    """What the agent has started, without itself and what guards it."""
    return [pid for pid in processes_tagged(editor.tag) if pid != editor.process.pid]


async def begun(editor, model, project):
    """A session whose finished turn has left a command in the background."""
    model.say(calls("terminal", command=LINE, background=True), "Started.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "start it") == "end_turn"
    assert children(editor)
    return session


async def none_left(editor):
    async with asyncio.timeout(2):
        while children(editor):
            await asyncio.sleep(0.01)


async def test_it_is_asked_for_as_any_command_and_killed_without_asking(editor, model, project):
    asked = []

    def approve(params):
        asked.append(params["toolCall"]["title"])
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = approve
    session = await begun(editor, model, project)
    model.say(calls("process", action="kill", id="p1"), "Ended.")
    assert await editor.prompt(session, "end it") == "end_turn"
    assert asked == [f"In the background: {LINE}"]
    assert children(editor) == []


async def test_a_cancelled_turn_leaves_it_running_and_the_wait_for_it_ends(editor, model, project):
    session = await begun(editor, model, project)
    before = children(editor)
    model.say(calls("process", action="wait", id="p1", timeout=60))
    prompt = editor.begin_prompt(session, "wait for it")
    await editor.wait_update(lambda update: str(update.get("title", "")).startswith("Wait for p1"))
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert set(before) & set(children(editor))
    model.say(calls("process", action="list"), "It runs.")
    assert await editor.prompt(session, "does it run?") == "end_turn"
    assert "p1: trap" in str(model.requests[-1].messages)


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_closing_and_deleting_the_session_end_it(editor, model, project, method):
    session = await begun(editor, model, project)
    await editor.request(method, {"sessionId": session})
    await none_left(editor)


async def test_the_end_of_the_connection_ends_it(editor, model, project):
    await begun(editor, model, project)
    assert await editor.close() == 0
    await none_left(editor)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_killed_agent_leaves_none(editor, model, project, number):
    await begun(editor, model, project)
    os.kill(editor.process.pid, number)
    await editor.process.wait()
    await none_left(editor)


async def test_one_session_does_not_know_the_commands_of_another(editor, model, project):
    await begun(editor, model, project)
    model.say(calls("process", action="kill", id="p1"), "There is none.")
    other = await editor.new_session(project)
    assert await editor.prompt(other, "end it") == "end_turn"
    assert "No background command" in str(model.requests[-1].messages)
    assert children(editor)


async def test_in_plan_mode_it_can_be_looked_at_and_not_be_ended(editor, model, project):
    session = await begun(editor, model, project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    model.say(calls("process", action="poll", id="p1"), calls("process", action="kill", id="p1"), "No.")
    assert await editor.prompt(session, "end it") == "end_turn"
    results = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
    assert "running for" in results[-2]
    assert "plan mode" in results[-1]
    assert children(editor)
