"""Waiting that keeps its word: for so long and no longer, or to the end whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from hermes_acp.errors import Unfinished

_T = TypeVar("_T")

log = logging.getLogger(__name__)


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

    For work that must not outlive its call: a thread cannot be stopped, a process must be gone, a fact be stored.

    Raises:
        asyncio.CancelledError: it was cancelled meanwhile. That wins over an error of the work, which is then logged.
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
    if not task.cancelled() and (failure := task.exception()):
        log.warning("failed while being cancelled: %s", failure)
    raise interruption


async def surely_told(what: Awaitable[_T], told: str) -> _T:
    """As `surely`, for work that somebody has to know of even if nobody waits for it any more.

    Raises:
        Unfinished: it was cancelled meanwhile and has succeeded all the same; `told` says so.
        asyncio.CancelledError: it was cancelled meanwhile and has failed.
    """
    task = asyncio.ensure_future(what)
    try:
        return await surely(task)
    except asyncio.CancelledError:
        if not task.cancelled() and task.exception() is None:
            raise Unfinished(told) from None
        raise


@asynccontextmanager
async def finishing(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """A block that ends with `work`, whatever happens in it.

    What the block raised goes on afterwards: an error of the work never takes its place, and a cancellation
    is never lost.
    """
    async with unless_whole(work):
        yield
    await surely(work())


@asynccontextmanager
async def unless_whole(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """As `finishing`, for work that is owed only if the block does not come to its end.

    A block that comes to its end is left without waiting, so no cancellation comes between it and what follows.
    """
    try:
        yield
    except BaseException as raised:
        try:
            await surely(work())
        except Exception as error:
            if str(error) != str(raised):
                log.warning("could not finish: %s", error)
        raise
