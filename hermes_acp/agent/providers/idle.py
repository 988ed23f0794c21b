"""A watch on streams that stay open and say nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hermes_acp.errors import ProviderError


class Idle:
    """The time that a stream may still take until it makes progress.

    Bytes alone are no progress: keep-alive comments would keep a dead stream alive for ever. Time that
    passes while nobody waits for the stream does not count, if `restart` is called before the next wait.
    """

    def __init__(self, provider: str, seconds: float) -> None:
        self._provider = provider
        self._seconds = seconds
        self._deadline = 0.0
        self.restart()

    def restart(self, seconds: float | None = None) -> None:
        """Give the stream its full time again, or so many seconds."""
        self._deadline = asyncio.get_running_loop().time() + (self._seconds if seconds is None else seconds)

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """A context that raises `ProviderError` ("stalled") when the time is over."""
        try:
            async with asyncio.timeout_at(self._deadline):
                yield
        except TimeoutError:
            message = f"{self._provider} has sent nothing new for {self._seconds:g} seconds."
            raise ProviderError(message, kind="stalled") from None
