"""Requests of the editor while they run: open ids, cancelling, and too many at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hermes_acp.errors import SessionNotFound
from hermes_acp.protocol.inbound import Params
from hermes_acp.protocol.peer import Call, Route
from tests.support.routes import CANCEL, ENTRIES, codes, echo
from tests.support.wire import SmallApp, notification, open_wire, request


async def test_an_id_that_is_still_open_cannot_be_used_again() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"), request(1, "echo"), request("1", "echo"))
        answers = [await wire.receive() for _ in range(2)]
        assert {answer["id"]: "error" in answer for answer in answers} == {1: True, "1": False}
        wire.send(notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}
        assert "result" in await wire.ask("echo", id_=1)


async def test_a_cancelled_request_is_answered_once_and_its_work_ends() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"))
        await asyncio.sleep(0.05)
        wire.send(notification(CANCEL, {"requestId": 1}), notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}
        assert wire.app.notes == ["woken 1"]
        assert [line for line in await wire.rest() if "id" in line] == []


async def test_a_request_cancelled_in_the_same_write_is_answered_too() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "echo"), notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}


@pytest.mark.parametrize("id_", [2, "1", None, [], {}, 1.0, True])
async def test_cancelling_another_id_cancels_nothing(id_: Any) -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"), notification(CANCEL, {"requestId": id_}), notification(CANCEL))
        await wire.ask("echo")
        assert wire.app.notes == []


class Turn:
    """A route that registers at the moment its line is read, and cancels itself."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.stop = "end_turn"

    def received(self, call: Call[SmallApp], params: Params) -> None:
        call.app.notes.append(f"received {call.id}")
        call.state = self
        call.on_cancel = self.cancel

    def cancel(self) -> None:
        self.stop = "cancelled"
        self.over.set()

    async def handle(self, call: Call[SmallApp], params: Params) -> dict[str, Any]:
        assert call.state is self
        await self.over.wait()
        return {"stopReason": self.stop, "cancelled": call.cancelled}

    def route(self) -> Route:
        return Route("turn", Params, self.handle, received=self.received, cancels_itself=True)


@pytest.mark.parametrize("together", [True, False])
async def test_a_route_that_cancels_itself_answers_with_a_result(together: bool) -> None:
    async with open_wire([*ENTRIES, Turn().route()]) as wire:
        wire.send(request(1, "turn"), *([notification(CANCEL, {"requestId": 1})] if together else []))
        if not together:
            await wire.ask("echo")
            wire.send(notification(CANCEL, {"requestId": 1}))
        assert (await wire.receive())["result"] == {"stopReason": "cancelled", "cancelled": True}


async def test_what_was_received_is_known_to_the_next_line() -> None:
    async with open_wire([*ENTRIES, Turn().route()]) as wire:
        wire.send(request(1, "turn"), notification("note", {"next": 1}), notification(CANCEL, {"requestId": 1}))
        await wire.receive()
        assert wire.app.notes == ["received 1", {"next": 1}]


async def test_a_request_refused_as_it_is_received_is_answered() -> None:
    def received(call: Call[SmallApp], params: Params) -> None:
        raise SessionNotFound("gone")

    async with open_wire([Route("turn", Params, echo, received=received)]) as wire:
        assert (await wire.ask("turn"))["error"]["code"] == -32002


async def test_an_editor_that_asks_faster_than_it_can_be_answered_is_not_read_on_until_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Requests that wait for the editor do not count: it must be heard to end them."""
    monkeypatch.setattr("hermes_acp.protocol.incoming.MOST_OPEN", 20)
    gate, begun = asyncio.Event(), []

    async def slow(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        begun.append(call.id)
        await gate.wait()
        return {}

    def cancel_when_told(call: Call[SmallApp], params: Params) -> None:
        call.on_cancel = gate.set

    waiting = Route("waiting", Params, slow, received=cancel_when_told, cancels_itself=True)
    async with open_wire([*ENTRIES, Route("slow", Params, slow), waiting]) as wire:
        wire.send(*(request(f"w{number}", "waiting") for number in range(100)))
        assert "result" in await wire.ask("echo")
        for number in range(100):
            wire.send(request(number, "slow"))
            await asyncio.sleep(0.001)
        assert 20 < len(begun) - 100 < 60
        gate.set()
        answered = [(await wire.receive())["id"] for _ in range(200)]
        assert {*answered} == {*range(100), *(f"w{number}" for number in range(100))}
