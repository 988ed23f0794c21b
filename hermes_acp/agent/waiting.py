"""Work that has to be done whatever happens meanwhile: a cancellation may delay it but not undo it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


async def uncancelled(work: Awaitable[T]) -> T:
    """Wait for `work` to its end, however often the waiting task is cancelled meanwhile.

    Raises:
        asyncio.CancelledError: after the work ended, when the waiting task was cancelled. A cancellation wins
            over an error of the work, which is then only logged.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if not cancelled:
        return task.result()
    if not task.cancelled() and (error := task.exception()):
        log.warning("failed while being cancelled: %s", error)
    raise asyncio.CancelledError


@asynccontextmanager
async def finishing(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """A block that ends with `work`, whatever happens in it.

    What the block raised goes on afterwards: an error of the work never takes its place, and a cancellation
    is never lost.
    """
    try:
        yield
    except BaseException:
        try:
            await uncancelled(work())
        except Exception as error:
            log.warning("could not finish: %s", error)
        raise
    await uncancelled(work())
