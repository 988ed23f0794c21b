"""A small server that starts at once, for what is about programs and not about the protocol."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.cards import ToolResult
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.mcp.server import Surroundings
from hermes_acp.mcp.servers import Servers
from hermes_acp.mcp_servers import ProgramServer
from hermes_acp.tools.base import ToolContext

SMALL = """
import json, os, sys, time
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def text(value): return {"content": [{"type": "text", "text": value}]}
heard = []
BEFORE
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        heard.append(asked["method"])
        continue
    method, params = asked["method"], asked.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        result = {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}
    else:
        CALL
        result = text(params["arguments"]["text"])
    say(id=asked["id"], result=result)
"""


def small(
    name: str = "small", *, before: str = "pass", call: str = "pass", tools: tuple[str, ...] = ("echo",), **more: Any
) -> ProgramServer:
    """A server that repeats a text; `before` is run at its start and `call` before it answers a call."""
    script = SMALL.replace("BEFORE", before).replace("CALL", call).replace("TOOLS", repr(tools))
    return ProgramServer(name, sys.executable, ("-I", "-S", "-c", script), **more)


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[Servers]:
    made = Servers(Surroundings(tmp_path, lambda: (tmp_path,)))
    yield made
    await made.close()


Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
async def call(servers: Servers, tmp_path: Path) -> AsyncIterator[Call]:
    """Call a tool of the servers as the engine does."""
    workspace = LocalWorkspace(tmp_path)

    async def called(name: str = "mcp__small__echo", **arguments: Any) -> ToolResult:
        tool = servers.toolbox[name]
        return await (await tool.prepare(tool.parse(arguments), ToolContext("call_1", workspace))).run()

    yield called
    await workspace.aclose()
