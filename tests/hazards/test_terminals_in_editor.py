"""Commands in an editor's terminals, when the editor does not do its part."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import never, open_editor

pytestmark = pytest.mark.slow


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"terminal": True})
        editor.handlers["terminal/create"] = lambda params: {"terminalId": "t1"}
        for name in ("wait_for_exit", "output", "kill", "release"):
            editor.handlers[f"terminal/{name}"] = never
        yield editor


async def test_r1_a_terminal_that_opens_after_the_cancel_is_killed_and_released(editor, model, project):
    asked, opened = asyncio.Event(), asyncio.Event()

    async def create(params):
        asked.set()
        await opened.wait()
        return {"terminalId": "late"}

    calls = []
    editor.handlers["terminal/create"] = create
    for name in ("kill", "release"):
        editor.handlers[f"terminal/{name}"] = lambda params, name=name: calls.append((name, params["terminalId"]))
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60"})]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await asked.wait()
    editor.notify("session/cancel", {"sessionId": session})
    await asyncio.sleep(0.2)
    opened.set()
    assert (await prompt)["stopReason"] == "cancelled"
    assert calls == [("kill", "late"), ("release", "late")]


async def test_a_timeout_holds_though_the_editor_answers_nothing(editor, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60", "timeout": 1})]), "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go", timeout=8) == "end_turn"
    results = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
    assert "stopped after 1 second" in results[-1]
