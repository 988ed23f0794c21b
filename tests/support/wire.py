"""A peer between two pipes, with the other ends in the hands of the test."""

from __future__ import annotations

import asyncio
import json
import os
import select
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from hermes_acp.protocol.line_reader import LineReader
from hermes_acp.protocol.line_writer import LineWriter
from hermes_acp.protocol.peer import Listener, Peer, Route, Routes

PATIENCE = 10.0


@dataclass
class SmallApp:
    """An application that takes notes; `closing_takes` seconds to close."""

    notes: list[Any] = field(default_factory=list)
    closing_takes: float = 0.0

    async def closing(self) -> None:
        self.notes.append("closing")
        await asyncio.sleep(self.closing_takes)
        self.notes.append("closed")


class Wire:
    """The editor's ends, raw: what is written here the peer reads, byte for byte."""

    def __init__(self, peer: Peer, app: SmallApp, to_peer: int, from_peer: int) -> None:
        self.peer = peer
        self.app = app
        self._to_peer = to_peer
        self._from_peer = from_peer
        self._reader = asyncio.StreamReader(limit=2**26)
        self.running: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to read what the peer says."""
        pipe = os.fdopen(self._from_peer, "rb", buffering=0)
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)

    def send_raw(self, data: bytes) -> None:
        os.write(self._to_peer, data)

    def send(self, *messages: Any) -> None:
        """Send messages in one write."""
        self.send_raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def receive(self, *, timeout: float = PATIENCE) -> dict[str, Any]:
        """The peer's next line."""
        async with asyncio.timeout(timeout):
            line = await self._reader.readline()
        assert line, "the peer has closed the wire"
        message: dict[str, Any] = json.loads(line)
        return message

    async def ask(self, method: str, params: Any = None, *, id_: Any = "ask") -> dict[str, Any]:
        """Send a request and return its answer; other lines must not come between."""
        self.send(request(id_, method, params))
        answer = await self.receive()
        assert answer["id"] == id_, answer
        return answer

    async def rest(self) -> list[dict[str, Any]]:
        """End the connection, and return everything that is still on the wire."""
        await self.end()
        data = await self._reader.read()
        return [json.loads(line) for line in data.splitlines()]

    def hang_up(self) -> None:
        """Close the writing end, as an editor that goes away does."""
        if self._to_peer >= 0:
            os.close(self._to_peer)
            self._to_peer = -1

    def has_room(self) -> bool:
        """Whether a write of a few kilobytes would not block."""
        return bool(select.select([], [self._to_peer], [], 0)[1])

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def stop_reading(self) -> None:
        """Close the reading end."""
        self._transport.close()

    async def end(self) -> None:
        """Hang up and wait for the peer's end."""
        self.hang_up()
        assert self.running is not None
        async with asyncio.timeout(PATIENCE):
            await self.running


@asynccontextmanager
async def open_wire(
    entries: Iterable[Route | Listener], *, app: SmallApp | None = None, greeted: bool = True, leftover: bytes = b""
) -> AsyncIterator[Wire]:
    """A running peer with these routes."""
    reader, to_peer = os.pipe()
    from_peer, writer = os.pipe()
    peer = Peer(LineReader(reader), LineWriter(writer), Routes(entries))
    wire = Wire(peer, app or SmallApp(), to_peer, from_peer)
    await wire.open()
    wire.running = asyncio.create_task(_run(wire, writer, leftover, greeted))
    await asyncio.sleep(0)
    try:
        yield wire
    finally:
        await wire.end()
        wire.stop_reading()
        os.close(reader)


async def _run(wire: Wire, writer: int, leftover: bytes, greeted: bool) -> None:
    try:
        await wire.peer.run(wire.app, leftover=leftover, greeted=greeted)
    finally:
        os.close(writer)


def request(id_: Any, method: str, params: Any = None) -> dict[str, Any]:
    """A request; params that are None are left out."""
    message = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
