"""Calls of a server's tools, watched for signs of life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.text import clean, plain, shorten

if TYPE_CHECKING:
    from hermes_acp.mcp.client import Link

Show = Callable[[str], None]


class Calls:
    """The calls of one server that are under way. `patience`: seconds that each may give no sign of life."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._tasks: set[asyncio.Task[ToolResult]] = set()

    async def make(self, link: Link, tool: str, arguments: Mapping[str, Any], show: Show) -> ToolResult:
        """Call a tool. Cancelling tells the server, and does not wait for it.

        Raises:
            ToolError: it is silent for too long, or answers with an error.
            Exception: the connection failed, as the package says it.
        """
        signs = _Signs(show)
        calling = asyncio.ensure_future(link.call(tool, arguments, signs.take))
        self._tasks.add(calling)
        calling.add_done_callback(self._forget)
        try:
            await self._wait_for(calling, signs)
            return calling.result()
        finally:
            calling.cancel()

    async def _wait_for(self, calling: asyncio.Task[ToolResult], signs: _Signs) -> None:
        while not calling.done():
            seen = signs.count
            await asyncio.wait([calling], timeout=self._patience)
            if not calling.done() and signs.count == seen:
                raise ToolError(f"No answer came within {self._patience:g} seconds; the call was cancelled.")

    def _forget(self, calling: asyncio.Task[ToolResult]) -> None:
        """An error of a call that nobody waits for any more is no reason for a warning."""
        self._tasks.discard(calling)
        if not calling.cancelled():
            calling.exception()


class _Signs:
    """The signs of life that a call gives, shown as they come."""

    def __init__(self, show: Show) -> None:
        self.count = 0
        self._show = show

    async def take(self, progress: float, total: float | None, message: str | None) -> None:
        self.count += 1
        done = f"{progress:g}" + (f"/{total:g}" if total else "")
        self._show(f"{shorten(plain(clean(message)), 500)} ({done})" if message else done)
