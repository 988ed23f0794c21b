"""Requests of ours: each has its answer, its error or its end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hermes_acp.protocol.line_reader import MAX_LINE
from hermes_acp.protocol.peer import Disconnected, RemoteError
from tests.support.routes import CANCEL, ENTRIES, codes
from tests.support.wire import notification, open_wire


async def test_a_request_of_ours_gets_its_result_whatever_the_order() -> None:
    async with open_wire(ENTRIES) as wire:
        first = asyncio.create_task(wire.peer.request("fs/read_text_file", {"path": "/a"}))
        second = asyncio.create_task(wire.peer.request("fs/read_text_file", {"path": "/b"}))
        one, two = await wire.receive(), await wire.receive()
        assert [one["params"], two["params"]] == [{"path": "/a"}, {"path": "/b"}]
        wire.send(
            {"jsonrpc": "2.0", "id": two["id"], "result": "b"}, {"jsonrpc": "2.0", "id": one["id"], "result": "a"}
        )
        assert await asyncio.gather(first, second) == ["a", "b"]


@pytest.mark.parametrize("member", [{"result": None}, {}, {"result": None, "error": None}])
async def test_an_answer_of_null_or_nothing_is_null(member: dict[str, Any]) -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("fs/write_text_file", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], **member})
        assert await asked is None


@pytest.mark.parametrize(
    ("error", "code"),
    [({"code": -32601, "message": "no", "data": 1}, -32601), ("broken", -32603), ({"code": "x"}, -32603), ([], -32603)],
)
async def test_an_error_of_the_editor_is_raised_however_it_is_shaped(error: Any, code: int) -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("terminal/create", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], "error": error})
        with pytest.raises(RemoteError) as caught:
            await asked
        assert caught.value.code == code


async def test_an_answer_over_the_limit_fails_its_request() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("fs/read_text_file", {}))
        id_ = (await wire.receive())["id"]
        await asyncio.to_thread(wire.send_raw, b'{"jsonrpc":"2.0","id":%d,"result":"' % id_ + b"x" * MAX_LINE + b'"}\n')
        with pytest.raises(RemoteError):
            await asked
        assert "result" in await wire.ask("echo")


async def test_a_request_nobody_waits_for_is_taken_back_and_its_late_answer_ignored() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("session/request_permission", {}))
        id_ = (await wire.receive())["id"]
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await wire.receive() == notification(CANCEL, {"requestId": id_})
        wire.send({"jsonrpc": "2.0", "id": id_, "result": {}}, {"jsonrpc": "2.0", "id": 999, "result": {}})
        assert "result" in await wire.ask("echo")


async def test_an_answered_request_is_not_taken_back() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("_ask", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], "result": 1})
        assert await asked == 1
        asked.cancel()
        assert [line for line in await wire.rest() if line.get("method") == CANCEL] == []


async def test_our_requests_fail_when_the_editor_goes_away_and_so_do_later_ones() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("_ask", {}))
        await wire.receive()
        await wire.end()
        with pytest.raises(Disconnected):
            await asked
        with pytest.raises(Disconnected):
            await wire.peer.request("_ask", {})
        wire.peer.notify("_dropped", {})


async def test_a_message_without_method_and_result_that_nobody_waits_for_is_refused() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send({"jsonrpc": "2.0", "id": 31})
        assert await codes(wire, 1) == {31: -32600}
