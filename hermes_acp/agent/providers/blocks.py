"""The bytes of an answer, gathered as they arrive, so that many small pieces cost one wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from hermes_acp.local.waiting import surely

MOST_WAITING = 4 * 1024 * 1024
"""Bytes that may wait to be taken; the connection is not read further until some are."""


class Blocks:
    """What has arrived and was not taken yet."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = 0
        self._changed = asyncio.Event()
        self._ended = False
        self._failure: Exception | None = None

    async def take(self) -> bytes | None:
        """All that has arrived, at least one block; None at the end.

        Raises:
            Exception: what broke the connection, once everything before it was taken.
        """
        while not self._waiting and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        if not self._waiting:
            if self._failure is not None:
                raise self._failure
            return None
        taken = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        self._changed.set()
        return taken

    async def fill(self, source: AsyncGenerator[bytes, None]) -> None:
        """Read a source to its end."""
        try:
            async with aclosing(source):
                async for block in source:
                    self._waiting.append(block)
                    self._size += len(block)
                    self._changed.set()
                    if self._size > MOST_WAITING:
                        await self._taken()
        except Exception as error:
            self._failure = error
        finally:
            self._ended = True
            self._changed.set()

    async def _taken(self) -> None:
        while self._size > MOST_WAITING:
            self._changed.clear()
            await self._changed.wait()


@asynccontextmanager
async def gathered(source: AsyncGenerator[bytes, None]) -> AsyncIterator[Blocks]:
    """The blocks of a source, read by a task that ends with this context; the source is closed by then."""
    blocks = Blocks()
    task = asyncio.get_running_loop().create_task(blocks.fill(source))
    try:
        yield blocks
    finally:
        task.cancel()
        await surely(asyncio.wait({task}))
