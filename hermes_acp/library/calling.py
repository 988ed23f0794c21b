"""Calls of a program's functions, sync and async, that nobody's turn waits for longer than it likes."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from dataclasses import field
from queue import SimpleQueue
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass

Function = Callable[..., Any]

ASKING: ContextVar[object] = ContextVar("ASKING", default=None)
"""In a function that answers a question: the loop whose turn waits for it."""

_LOOK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Calls:
    """Tells a program facts: one call after the other, in the order given, in a thread of their own.

    Awaitables that a call returns are run on the loop named for it, and waited for before the next call. What a
    call raises goes to the log.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._latest: dict[str, tuple[Any, ...]] = {}
        self._thread: threading.Thread | None = None

    def put(self, loop: asyncio.AbstractEventLoop, function: Function, *args: Any) -> None:
        """Call the function soon."""
        self._put(lambda: _call(loop, function, args))

    def put_latest(self, key: str, loop: asyncio.AbstractEventLoop, function: Function, *args: Any) -> None:
        """As `put`, but of calls of one key that still wait only the last is made."""
        with self._lock:
            waits = key in self._latest
            self._latest[key] = args
        if not waits:
            self._put(lambda: _call(loop, function, self._take(key)))

    async def drained(self, seconds: float) -> None:
        """Wait until all that was put before has been called, but no longer than that."""
        if self._thread is None:
            return
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._put(lambda: _resolve(loop, done, None))
        await asyncio.wait({done}, timeout=seconds)

    def close(self) -> None:
        """End the thread once everything has been called. Nobody waits for that."""
        if self._thread is not None:
            self._jobs.put(None)

    def _put(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name="hermes-callbacks", daemon=True)
            self._thread.start()

    def _take(self, key: str) -> tuple[Any, ...]:
        with self._lock:
            return self._latest.pop(key)

    def _live(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


async def ask(owner: object, loop: asyncio.AbstractEventLoop, function: Function, *args: Any) -> Any:
    """What the function answers. It is called in a thread of its own; an awaitable that it returns is run on
    `loop`, and cancelled when this is.

    Args:
        owner: what `ASKING` says within the function.
        loop: where awaitables belong.

    Raises:
        Exception: whatever the function raises.
    """
    question = _Question(owner, loop, asyncio.get_running_loop().create_future())
    threading.Thread(target=question.put, args=(function, args), name="hermes-question", daemon=True).start()
    try:
        return await question.answer
    finally:
        question.leave()


@dataclass(slots=True)
class _Question:
    owner: object
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    _running: list[Future[Any]] = field(default_factory=list)

    def put(self, function: Function, args: tuple[Any, ...]) -> None:
        ASKING.set(self.owner)
        home = self.answer.get_loop()
        try:
            value = function(*args)
            if inspect.isawaitable(value):
                self._running.append(_begun(value, self.loop))
                value = _result(self._running[0], self.loop)
        except BaseException as error:
            _resolve(home, self.answer, None, _as_exception(error))
        else:
            _resolve(home, self.answer, value)

    def leave(self) -> None:
        for future in self._running:
            future.cancel()


def _call(loop: asyncio.AbstractEventLoop, function: Function, args: tuple[Any, ...]) -> None:
    try:
        value = function(*args)
        if inspect.isawaitable(value):
            _finish(value, loop)
    except BaseException:
        log.warning("The callback %s failed", getattr(function, "__qualname__", function), exc_info=True)


def _finish(value: Awaitable[Any], loop: asyncio.AbstractEventLoop) -> None:
    """Run an awaitable to its end. One that the end of the loop meets, which it may have brought about itself, is left
    as it is: that is no failure."""
    try:
        future = _begun(value, loop)
    except _LoopGone:
        return
    try:
        _result(future, loop)
    except CancelledError:
        log.debug("a callback was cancelled")
    except TimeoutError:
        if future.done():
            raise


def _begun(value: Awaitable[Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
    """The future of an awaitable on the loop.

    Raises:
        _LoopGone: it cannot be run any more.
    """
    waiting = _awaited(value)
    try:
        return asyncio.run_coroutine_threadsafe(waiting, loop)
    except RuntimeError:
        waiting.close()
        if inspect.iscoroutine(value):
            value.close()
        raise _LoopGone("The loop for async callbacks has ended.") from None


class _LoopGone(RuntimeError):
    """The loop that an awaitable belongs to has ended."""


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _result(future: Future[Any], loop: asyncio.AbstractEventLoop) -> Any:
    """The future's result; a loop that has gone gives none."""
    while True:
        try:
            return future.result(_LOOK_SECONDS)
        except TimeoutError:
            if future.done() or loop.is_closed():
                raise


def _resolve(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], value: Any, error: Exception | None = None
) -> None:
    def settle() -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    with contextlib.suppress(RuntimeError):  # The loop has gone, and the turn with it.
        loop.call_soon_threadsafe(settle)


def _as_exception(error: BaseException) -> Exception:
    """An exception that a future can carry and an edge can catch: a function may even exit."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"it raised {type(error).__name__}")
