"""The wire's way out: lines to a file descriptor, never blocking the loop."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Callable

HIGH_WATER = 256 * 1024
"""Unsent bytes from which on `LineWriter.drained` waits, until a quarter of them is left."""

FLOOD = 64 * 1024 * 1024
"""Unsent bytes from which on nothing more is to be read from an editor that asks and does not listen."""

_log = logging.getLogger(__name__)


class LineWriter:
    """Writes lines to a descriptor in order, as fast as the reader takes them, and never waits for it.

    All lines of one turn of the loop leave in one system call. While the writer is open the descriptor is
    non-blocking; `close` puts that back, since a terminal or a socket may be shared with other programs.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self._lost = False

    def start(self, on_lost: Callable[[], None]) -> None:
        """Begin. `on_lost` is called once, when the other side cannot be written to any more."""
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._was_blocking = os.get_blocking(self._fd)
        os.set_blocking(self._fd, False)
        if stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            # The writing end of a pipe becomes readable only when its reader is gone.
            self._loop.add_reader(self._fd, self._lose)
        self._schedule()

    @property
    def unsent(self) -> int:
        """Bytes that were written here and not yet taken by the system."""
        return len(self._buffer)

    def write(self, line: bytes) -> None:
        """Queue one line, with its newline. After the connection was lost it is dropped."""
        if self._lost:
            return
        self._buffer += line
        self._schedule()

    async def drained(self) -> None:
        """Wait while more than `HIGH_WATER` bytes are unsent."""
        if len(self._buffer) > HIGH_WATER:
            await self._fallen_to(HIGH_WATER // 4)

    async def subsided(self) -> None:
        """Wait until hardly anything is unsent."""
        await self._fallen_to(HIGH_WATER)

    async def flush(self) -> None:
        """Wait until everything is sent, or the connection lost."""
        await self._fallen_to(0)

    def close(self) -> None:
        """Stop writing, and give the descriptor back as it was found."""
        self._abandon()
        if self._loop is not None:
            os.set_blocking(self._fd, self._was_blocking)

    def _schedule(self) -> None:
        """`_scheduled` stays set while the loop watches for room, which then calls `_flush` as well."""
        if self._loop is not None and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._lost:
            return
        assert self._loop is not None
        try:
            self._send()
        except OSError as error:
            _log.info("writing to the editor failed: %s", error)
            self._lose()
            return
        self._wake()
        if self._buffer:
            self._loop.add_writer(self._fd, self._flush)
        else:
            self._loop.remove_writer(self._fd)
            self._scheduled = False

    def _send(self) -> None:
        """Hand over what the system takes now; memory is released with it."""
        try:
            del self._buffer[: os.write(self._fd, self._buffer)]
        except (BlockingIOError, InterruptedError):
            return

    async def _fallen_to(self, unsent: int) -> None:
        while len(self._buffer) > unsent and not self._lost:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((unsent, future))
            await future

    def _wake(self) -> None:
        for unsent, future in self._waiting:
            if len(self._buffer) <= unsent and not future.done():
                future.set_result(None)
        self._waiting = [(unsent, future) for unsent, future in self._waiting if not future.done()]

    def _lose(self) -> None:
        if not self._lost:
            self._abandon()
            self._on_lost()

    def _abandon(self) -> None:
        self._lost = True
        self._buffer = bytearray()
        self._wake()
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
