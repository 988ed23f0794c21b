"""The peer between two pipes: what is answered, and in what order."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import Any

import pytest

from hermes_acp.protocol.errors import RpcError
from hermes_acp.protocol.inbound import Params
from hermes_acp.protocol.line_reader import LineReader
from hermes_acp.protocol.line_writer import LineWriter
from hermes_acp.protocol.peer import Call, Listener, Peer, Route, Routes
from tests.support.routes import ENTRIES, codes, echo, note
from tests.support.wire import SmallApp, notification, open_wire, request


async def test_a_request_is_answered_with_its_result() -> None:
    async with open_wire(ENTRIES) as wire:
        answer = await wire.ask("echo", {"a": 1}, id_="s-1")
        assert answer == {"jsonrpc": "2.0", "id": "s-1", "result": {"echo": {"a": 1}}}


@pytest.mark.parametrize("id_", [0, -5, 10**25, "", "7", "日本", None])
async def test_an_id_comes_back_as_it_was(id_: Any) -> None:
    async with open_wire(ENTRIES) as wire:
        answer = await wire.ask("echo", id_=id_)
        assert (answer["id"], type(answer["id"])) == (id_, type(id_))


@pytest.mark.parametrize(
    "params", [{"context": 1, "self": 2, "call": 3, "params": 4}, {"": 1, "a-b": 2, "class": 3}, {"model_dump": 1}]
)
async def test_no_name_of_a_field_collides_with_ours(params: dict[str, Any]) -> None:
    async with open_wire(ENTRIES) as wire:
        assert (await wire.ask("echo", params))["result"] == {"echo": params}


async def test_unknown_requests_are_refused_with_their_id_and_unknown_notifications_ignored() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(notification("_vendor/x"), notification("$/unknown"), notification("session/cancel", {"a": 1}))
        wire.send(request(7, "ping"), request("s-1", "_vendor.x/foo"), request(None, "$/what"), request(8, "note"))
        assert await codes(wire, 4) == {7: -32601, "s-1": -32601, None: -32601, 8: -32601}


async def test_params_must_be_an_object() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "echo", [1]), request(2, "echo", "x"), request(3, "echo", 0), request(4, "echo", False))
        assert await codes(wire, 4) == {1: -32602, 2: -32602, 3: -32602, 4: -32602}
        wire.send(notification("note", [1]), notification("note", "x"), notification("note", {"a": 1}))
        await wire.ask("echo")
        assert wire.app.notes == [{"a": 1}]


async def test_wrong_params_are_refused_by_the_name_of_the_field() -> None:
    async with open_wire(ENTRIES) as wire:
        error = (await wire.ask("cwd", {"cwd": "relative"}))["error"]
        assert error == {"code": -32602, "message": "Invalid params: cwd: must be an absolute path"}


async def test_failures_have_their_codes_and_leak_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.ERROR):
            failed = await wire.ask("fail")
        assert failed["error"] == {"code": -32603, "message": "Internal error"}
        assert (await wire.ask("refuse"))["error"]["code"] == -32000
        assert (await wire.ask("lose"))["error"]["data"] == {"sessionId": "nope"}


async def test_a_result_that_is_not_json_is_an_internal_error_and_nothing_follows_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.CRITICAL):
            assert (await wire.ask("nan"))["error"]["code"] == -32603
        await wire.ask("echo")
        assert wire.app.notes == []


async def test_nothing_is_served_before_initialize() -> None:
    async with open_wire(ENTRIES, greeted=False) as wire:
        wire.send(notification("note", {"early": 1}), request(1, "echo"), request(2, "nonsense"))
        assert await codes(wire, 2) == {1: -32600, 2: -32600}
        wire.send(request(3, "initialize"), notification("note", {"late": 1}), request(4, "echo"))
        assert [(await wire.receive())["id"] for _ in range(2)] == [3, 4]
        assert wire.app.notes == [{"late": 1}]


async def test_an_initialize_that_is_refused_opens_nothing() -> None:
    async with open_wire(ENTRIES, greeted=False) as wire:
        wire.send(request(1, "initialize", [1]), request(2, "echo"))
        found = await codes(wire, 2)
        assert found == {1: -32602, 2: -32600}


async def test_a_failing_listener_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.ERROR):
            wire.send(notification("stumble"), notification("note", {"a": 1}))
            await wire.ask("echo")
        assert wire.app.notes == [{"a": 1}]
        assert "a fault of ours" in caplog.text


async def test_notifications_are_handled_in_the_order_of_the_lines() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(*(notification("note", {"n": number}) for number in range(200)))
        await wire.ask("echo")
        assert [entry["n"] for entry in wire.app.notes] == list(range(200))


async def test_what_follows_an_answer_comes_right_after_it() -> None:
    async def handle(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        for number in (1, 2):
            call.after(lambda number=number: wire.peer.notify("_after", {"number": number}))
        wire.peer.notify("_before", {})
        return {}

    async with open_wire([Route("new", Params, handle)]) as wire:
        wire.send(request(1, "new"), request(2, "new"))
        lines = [await wire.receive() for _ in range(8)]
    order = [line.get("id") or (line["method"], line["params"].get("number")) for line in lines]
    for id_ in (1, 2):
        place = order.index(id_)
        assert order[place + 1 : place + 3] == [("_after", 1), ("_after", 2)]


async def test_nothing_follows_an_error() -> None:
    async def handle(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        call.after(lambda: wire.peer.notify("_after", {}))
        raise RpcError(-32602, "no")

    async with open_wire([Route("new", Params, handle)]) as wire:
        assert (await wire.ask("new"))["error"]["code"] == -32602
        assert [line["method"] for line in await wire.rest() if "method" in line] == []


def test_two_routes_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="echo"):
        Routes([Route("echo", Params, echo), Listener("echo", Params, note)])


async def test_a_wire_of_sockets_and_a_shared_descriptor_works() -> None:
    import socket

    ours, theirs = socket.socketpair()
    peer = Peer(LineReader(ours.fileno()), LineWriter(os.dup(ours.fileno())), Routes(ENTRIES))
    running = asyncio.create_task(peer.run(SmallApp(), greeted=True))
    reader, writer = await asyncio.open_connection(sock=theirs)
    writer.write(json.dumps(request(1, "echo")).encode() + b"\n")
    assert json.loads(await reader.readline())["id"] == 1
    writer.close()
    await asyncio.wait_for(running, 5)
    assert ours.getblocking()
    ours.close()
