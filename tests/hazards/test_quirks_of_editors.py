"""What real editors do that the protocol does not say: the turn goes on as if they did not."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor
from tests.support.hands import Terminals


class ShellTerminals(Terminals):
    """Terminals of an editor that gives every command to a shell, as one line."""

    async def create(self, params: dict[str, Any]) -> dict[str, Any]:
        line = shlex.join([params["command"], *params["args"]])
        self.created.append(params)
        terminal = f"t{len(self.created)}"
        self.processes[terminal] = await asyncio.create_subprocess_shell(
            line,
            cwd=params["cwd"],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        self.ends[terminal] = asyncio.create_task(self.end(terminal))
        return {"terminalId": terminal}


async def test_a_terminal_behind_a_shell_runs_what_was_asked_for(tmp_path, model, project):
    command = "printf '%s|' 'a b' \"it's\" '$HOME'; exit 3"
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"terminal": True})
        editor.handlers["session/request_permission"] = choose("allow_once")
        terminals = ShellTerminals(editor)
        model.say(Say(calls=[Call("terminal", {"command": command})]), "Done.")
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        await terminals.aclose()
    result = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"][-1]
    assert "a b|it's|$HOME|" in result
    assert "exit code 3" in result


@pytest.mark.parametrize(
    "text",
    [
        "<user_query>\nWhy does it fail?\n</user_query>",
        '<context ref="file:///a.txt">\n/help\n</context>\nWhat is this?',
        "<prompt>/compact</prompt>",
    ],
)
async def test_a_prompt_in_tags_goes_to_the_model_as_it_is(tmp_path, model, project, text):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, text) == "end_turn"
    assert text in str(model.requests[-1].messages[-1]["content"])


@pytest.mark.parametrize("meta", [{"zed.dev/turn": {"id": 7}, "method": "session/cancel"}, {}, None])
async def test_a_meta_that_nobody_knows_is_carried_by_every_request(tmp_path, model, project, meta):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.request("initialize", {"protocolVersion": 1, "clientCapabilities": {"_meta": meta}, "_meta": meta})
        opened = await editor.request("session/new", {"cwd": str(project), "mcpServers": [], "_meta": meta})
        prompt = [{"type": "text", "text": "hi", "_meta": meta}]
        asked = {"sessionId": opened["sessionId"], "prompt": prompt, "_meta": meta}
        assert (await editor.request("session/prompt", asked))["stopReason"] == "end_turn"
