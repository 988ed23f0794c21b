"""A slow editor is waited for, and one that is gone ends the connection and all that is open."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tests.support.routes import ENTRIES
from tests.support.wire import SmallApp, open_wire, request


async def test_the_end_of_input_answers_what_is_open_and_closes_the_application() -> None:
    async with open_wire([*ENTRIES]) as wire:
        wire.send(request(1, "sleep"), request(2, "echo"))
        loop = asyncio.get_running_loop()
        start = loop.time()
        lines = await wire.rest()
        assert {line["id"]: "result" in line for line in lines} == {1: False, 2: True}
        assert wire.app.notes[:2] == ["closing", "closed"]
        assert loop.time() - start < 10


async def test_an_application_that_does_not_close_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with open_wire(ENTRIES, app=SmallApp(closing_takes=60)) as wire:
            await asyncio.wait_for(wire.end(), 1.9)
    assert wire.app.notes == ["closing"]


async def test_a_peer_that_is_closed_ends_like_one_whose_editor_is_gone() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.peer.close()
        assert wire.running is not None
        await asyncio.wait_for(wire.running, 5)
        assert wire.app.notes == ["closing", "closed"]


async def test_an_editor_that_stops_reading_ends_the_connection_though_its_input_is_open() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.stop_reading()
        assert wire.running is not None
        await asyncio.wait_for(wire.running, 1.9)
        assert wire.app.notes == ["closing", "closed"]


async def test_a_slow_editor_gets_every_notification_in_order_and_never_blocks_the_loop() -> None:
    async with open_wire(ENTRIES) as wire:
        for number in range(2000):
            wire.peer.notify("_n", {"number": number, "text": "x" * 500})
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asyncio.sleep(0)
        assert loop.time() - start < 5
        numbers = [(await wire.receive())["params"]["number"] for _ in range(2000)]
        assert numbers == list(range(2000))


async def test_an_editor_that_asks_and_does_not_listen_is_not_read_on_until_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is unsent stays bounded, and every request is answered in the end."""
    monkeypatch.setattr("hermes_acp.protocol.peer.FLOOD", 1024 * 1024)
    padding = {"padding": "x" * 3000}
    async with open_wire(ENTRIES) as wire:
        wire.pause_reading()
        asked = 0
        for _ in range(1500):
            if wire.has_room():
                wire.send(request(asked, "echo", padding))
                asked += 1
            await asyncio.sleep(0.001)
        assert 300 < asked < 600
        wire.resume_reading()
        assert {(await wire.receive())["id"] for _ in range(asked)} == set(range(asked))
        assert "result" in await wire.ask("echo")
