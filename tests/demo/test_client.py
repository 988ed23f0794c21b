"""The demo's ACP client, against small agents that are programs of their own."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from hermes_acp.demo.client import AcpClient, AgentError, AgentGone

PRELUDE = """
import json, sys
def read(): return json.loads(sys.stdin.readline())
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
"""


async def start(program: str, **options: Any) -> AcpClient:
    return await AcpClient.start([sys.executable, "-c", PRELUDE + program], **options)


async def test_a_request_gets_its_result_and_notifications_come_in_order() -> None:
    seen: list[Any] = []
    program = """
request = read()
for number in range(3): send(method="note", params=number)
send(id=request["id"], result=request["params"])
"""
    client = await start(program, on_notification=lambda method, params: seen.append((method, params)))
    assert await client.request("echo", {"text": "héllo 💫"}) == {"text": "héllo 💫"}
    assert seen == [("note", 0), ("note", 1), ("note", 2)]
    assert await client.close() == 0


async def test_an_error_keeps_its_code_and_data() -> None:
    program = 'send(id=read()["id"], error={"code": -32602, "message": "cwd: missing", "data": {"a": 1}})'
    client = await start(program)
    with pytest.raises(AgentError, match="cwd: missing") as caught:
        await client.request("session/new", {})
    assert (caught.value.code, caught.value.data) == (-32602, {"a": 1})
    await client.close()


async def test_the_agent_s_requests_are_answered_by_handlers_or_refused() -> None:
    async def double(params: dict[str, Any]) -> int:
        return 2 * int(params["n"])

    program = """
first = read()
send(id="x-1", method="double", params={"n": 21})
send(id=7, method="unknown/method", params={})
answers = [read(), read()]
send(id=first["id"], result=sorted(answers, key=lambda answer: str(answer["id"])))
"""
    client = await start(program, handlers={"double": double})
    refused, doubled = await client.request("go", {})
    assert doubled == {"jsonrpc": "2.0", "id": "x-1", "result": 42}
    assert refused["error"]["code"] == -32601
    await client.close()


async def test_a_request_that_the_agent_takes_back_is_answered_as_cancelled() -> None:
    async def never(params: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    program = """
first = read()
send(id=5, method="ask", params={})
send(method="$/cancel_request", params={"requestId": 5})
send(id=first["id"], result=read())
"""
    client = await start(program, handlers={"ask": never})
    answer = await client.request("go", {})
    assert (answer["id"], answer["error"]["code"]) == (5, -32800)
    await client.close()


async def test_a_line_of_megabytes_is_read() -> None:
    client = await start('send(id=read()["id"], result="x" * 5_000_000)')
    assert len(await client.request("go", {})) == 5_000_000
    await client.close()


@pytest.mark.parametrize("program", ["read()", "read(); print('no JSON', flush=True); sys.stdin.read()"])
async def test_requests_fail_when_the_agent_leaves_or_writes_something_else(program: str) -> None:
    client = await start(program)
    with pytest.raises(AgentGone):
        await client.request("go", {})
    with pytest.raises(AgentGone):
        await client.request("again", {})
    await client.close()


async def test_an_agent_that_stays_is_killed() -> None:
    program = "import signal, time\nsend(method='up', params=None)\ntime.sleep(60)"
    up = asyncio.Event()
    client = await start(program, on_notification=lambda method, params: up.set())
    await up.wait()
    assert await client.close() < 0


async def test_a_program_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(AgentGone, match="cannot be started"):
        await AcpClient.start(["/no/such/program"])
