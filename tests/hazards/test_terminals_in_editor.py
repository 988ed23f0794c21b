"""Commands in an editor's terminals, when the editor does not do its part."""

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


@pytest.mark.slow
async def test_a_timeout_holds_though_the_editor_answers_nothing(editor, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60", "timeout": 1})]), "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go", timeout=8) == "end_turn"
    results = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
    assert "stopped after 1 second" in results[-1]
