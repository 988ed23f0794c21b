"""The key of one address: known, or still to be read; read anew when it is rejected."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely

ReadKey = Callable[[], Coroutine[Any, Any, str]]
"""Reads a key where it is kept, "" when there is none there. Raises `HermesError` when it cannot be read."""


@dataclass(slots=True)
class _Reading:
    """One look, and how many wait for it."""

    task: asyncio.Task[str]
    waiting: int = 0


class Keychain:
    """A key that many requests share.

    `key` is None as long as it was not read. `read` is None for a key that is nowhere to be read anew. One
    look serves all who wait for it; it ends when the last of them no longer waits.
    """

    def __init__(self, key: str | None, read: ReadKey | None = None) -> None:
        self._key = key
        self._read = read
        self._looked = -1.0
        self._reading: _Reading | None = None
        self._known = asyncio.Event()
        if key is not None:
            self._known.set()

    @property
    def now(self) -> str:
        """The key as far as it is known, else ""."""
        return self._key or ""

    async def known(self) -> str:
        """The key, once somebody else has read it."""
        await self._known.wait()
        return self.now

    async def key(self) -> str:
        """The key, read now if it was not before.

        Raises:
            HermesError: it cannot be read.
        """
        if self._key is None:
            await self._look()
        return self.now

    async def renewed(self, rejected: str, since: float) -> str:
        """The key after one was rejected: another one, or the same when there is no other.

        Args:
            rejected: the key that a server did not take.
            since: when the request with it began (`time.monotonic`). A look that ended later is good enough.

        Raises:
            HermesError: it cannot be read.
        """
        if self._key == rejected and self._looked < since:
            await self._look()
        return self.now

    async def _look(self) -> None:
        if self._read is None:
            return
        if self._reading is None:
            self._reading = _Reading(asyncio.get_running_loop().create_task(self._read()))
        reading = self._reading
        reading.waiting += 1
        try:
            await asyncio.wait({reading.task})
        finally:
            reading.waiting -= 1
            await self._leave(reading)
        key = reading.task.result()
        self._key, self._looked = key or self.now, time.monotonic()
        self._known.set()

    async def _leave(self, reading: _Reading) -> None:
        """Begin anew the next time; end a look that nobody waits for."""
        if reading.waiting and not reading.task.done():
            return
        if self._reading is reading:
            self._reading = None
        if not reading.task.done():
            reading.task.cancel()
            await surely(asyncio.wait({reading.task}))
            _ = reading.task.cancelled() or reading.task.exception()
