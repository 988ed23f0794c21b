"""Waiting that a cancellation may delay but not undo."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def uncancelled(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end, however often the waiting task is cancelled meanwhile.

    Raises:
        asyncio.CancelledError: after the work ended, when the waiting task was cancelled.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        task.exception()
        raise asyncio.CancelledError
    return task.result()
