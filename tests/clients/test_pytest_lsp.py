"""A client of pytest-lsp and pygls, which know nothing of ACP, drives the agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cattrs import Converter
from lsprotocol.converters import get_converter
from pygls.client import JsonRPCClient
from pygls.protocol.json_rpc import MsgId
from pytest_lsp import ClientServerConfig

from tests.clients.turn import PROMPT, REPLIES, Stage, assert_turn_was_whole, set_stage
from tests.fakes.model_server import ModelServer
from tests.support.editor import agent_env, choose

LINE_LIMIT = 16 * 1024 * 1024


def plain_converter() -> Converter:
    """Leaves params and results as they are, where pygls would make objects of them."""
    converter = get_converter()
    converter.register_structure_hook(MsgId, lambda value, _: value)
    return converter


class Lines:
    """Writes each message as a line, where pygls would count its bytes in a header."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        self._writer.write(data + b"\n")

    def close(self) -> None:
        self._writer.close()


class LineClient(JsonRPCClient):
    """A JSON-RPC client of pygls with the framing of ACP: a message is a line."""

    def __init__(self) -> None:
        super().__init__(converter_factory=plain_converter)
        self.updates: list[dict[str, Any]] = []
        self.feature("session/update")(lambda params: self.updates.append(params["update"]))
        self.feature("session/request_permission")(choose("allow_once"))

    async def start_io(self, cmd: str, *args: str, **kwargs: Any) -> None:
        """Start the agent and read its lines."""
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        agent = await asyncio.create_subprocess_exec(cmd, *args, **pipes, limit=LINE_LIMIT, **kwargs)
        assert agent.stdin is not None
        assert agent.stdout is not None
        self.protocol.set_writer(Lines(agent.stdin), include_headers=False)
        self._server = agent
        self._async_tasks += [asyncio.create_task(self._read(agent.stdout)), asyncio.create_task(self._server_exit())]

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            self.protocol.handle_message(json.loads(line, object_hook=self.protocol.structure_message))

    async def stop(self) -> None:
        """End the agent's input, and wait until it has left."""
        self.protocol.writer.close()
        await super().stop()


@asynccontextmanager
async def client_of(stage: Stage, url: str) -> AsyncIterator[LineClient]:
    config = ClientServerConfig(stage.command, client_factory=LineClient, server_env=agent_env(stage.home, url))
    client = await config.start()
    assert isinstance(client, LineClient)
    try:
        yield client
    finally:
        await client.stop()


@pytest.mark.slow
async def test_a_turn_through_pytest_lsp(tmp_path: Path) -> None:
    stage = set_stage(tmp_path)
    async with ModelServer() as server:
        server.say(*REPLIES)
        async with client_of(stage, server.url) as client:
            call = client.protocol.send_request_async
            await call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            session = await call("session/new", {"cwd": str(stage.project), "mcpServers": []})
            prompt = [{"type": "text", "text": PROMPT}]
            answer = await call("session/prompt", {"sessionId": session["sessionId"], "prompt": prompt})
        assert answer == {"stopReason": "end_turn"}
        assert_turn_was_whole(stage, server)
    assert client.updates
