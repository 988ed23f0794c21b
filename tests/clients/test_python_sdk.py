"""The client of the official Python SDK drives the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)

from tests.clients.turn import PROMPT, REPLIES, assert_turn_was_whole, set_stage
from tests.fakes.model_server import ModelServer
from tests.support.editor import agent_env

CAPABILITIES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))


class Person(acp.Client):
    """Allows everything once, keeps files on the disk, and remembers what it was shown."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.written: list[str] = []

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> RequestPermissionResponse:
        option = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=text_of_lines(Path(path), line or 1, limit))

    async def write_text_file(self, session_id: str, path: str, content: str, **kwargs: Any) -> WriteTextFileResponse:
        overwrite(Path(path), content)
        self.written.append(path)
        return WriteTextFileResponse()

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        assert method.startswith("hermes/")


def text_of_lines(path: Path, line: int, limit: int | None) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[line - 1 : None if limit is None else line - 1 + limit])


def overwrite(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8")


@pytest.mark.slow
async def test_a_turn_through_the_python_sdk(tmp_path: Path) -> None:
    stage, person = set_stage(tmp_path), Person()
    async with ModelServer() as server:
        server.say(*REPLIES)
        program, *arguments = stage.command
        env = agent_env(stage.home, server.url)
        async with acp.spawn_agent_process(person, program, *arguments, env=env) as (agent, _):
            await agent.initialize(acp.PROTOCOL_VERSION, CAPABILITIES)
            session = await agent.new_session(cwd=str(stage.project), mcp_servers=[])
            answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(PROMPT)])
        assert answer.stop_reason == "end_turn"
        assert_turn_was_whole(stage, server)
    assert person.updates
    assert person.written == [str((stage.project / "one.txt").resolve())]
