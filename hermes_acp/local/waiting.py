"""Waiting that keeps its word: for so long and no longer, or to the end whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

_T = TypeVar("_T")


async def within(seconds: float, what: Awaitable[object]) -> bool:
    """Whether it came to its end in time; it is cancelled if not."""
    try:
        async with asyncio.timeout(seconds):
            await what
    except TimeoutError:
        return False
    return True


async def surely(what: Awaitable[_T]) -> _T:
    """Wait for it also when cancelled meanwhile, however often; the cancel goes on once it has ended.

    For work that must not outlive its call: a thread cannot be stopped, a process must be gone.
    """
    task = asyncio.ensure_future(what)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is None:
        return task.result()
    _take_note(task)
    raise interruption


def _take_note(task: asyncio.Future[_T]) -> None:
    """An error that nobody asks for any more is no reason for a warning."""
    if not task.cancelled():
        task.exception()
