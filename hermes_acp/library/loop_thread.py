"""One event loop in a thread of its own, which other threads, signal handlers and forks may meet at any moment."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from hermes_acp.local.threads import DaemonThreads

T = TypeVar("T")

LEAVE_SECONDS = 2.0
"""How long the end of the interpreter waits for one loop."""

log = logging.getLogger(__name__)


class Closed(RuntimeError):
    """The agent was closed."""


class LoopThread:
    """A loop that lives from the first use to `end`, in a daemon thread.

    `closing` is awaited on the loop before it ends, however it ends: by `end`, when nobody holds the owner any
    more, or with the interpreter.
    """

    def __init__(self, closing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._closing = closing
        self._process = os.getpid()
        self._starting = threading.RLock()  # A signal handler may close what its thread is starting.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self._ending = False

    @property
    def alive(self) -> bool:
        """Whether there is a loop, in this process."""
        return self._loop is not None and not self._ending and self._process == os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether this is the loop's own thread."""
        return threading.current_thread() is self._thread

    def run(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Call `begin` on the loop, at once and in order, and run the coroutine that it returns.

        Raises:
            Closed: `end` was called.
            RuntimeError: this is a forked process.
        """
        future: Future[T] = Future()
        self._started().call_soon_threadsafe(_begin, begin, future)
        return future

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the loop, if there is one. Waits for nothing and takes no lock: signal handlers may
        call this."""
        if self.alive and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # It ended in between.
                self._loop.call_soon_threadsafe(function)

    def end(self, seconds: float) -> None:
        """Close what lives on the loop and end it, waiting no longer than `seconds`; from the loop itself not at
        all. Ending twice, or in a fork, does nothing."""
        if self._process != os.getpid():
            return
        with self._starting:
            first, self._ending = not self._ending, True
        if first and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread and not self.is_here:
            self._thread.join(seconds)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():
            raise RuntimeError("This agent was made in another process; make a new one after a fork.")
        with self._starting:
            if self._ending:
                raise Closed("This agent is closed.")
            if self._loop is None:
                self._loop = self._start()
            return self._loop

    def _start(self) -> asyncio.AbstractEventLoop:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=self._live, args=(started,), name="hermes-agent", daemon=True)
        self._thread.start()
        _LIVING.add(self)
        return started.result()

    def _live(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._main(started))

    async def _main(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonThreads())
        started.set_result(loop)
        await self._stop.wait()
        try:
            await self._closing()
        except Exception:
            log.exception("The agent was not closed well")


def wait_for(begin: Callable[[], Future[T]], cancel: Callable[[], object], seconds: float) -> T:
    """The result of the future that `begin` gives. What a signal handler raises meanwhile (Ctrl-C) is raised again
    once `cancel` has ended the work, or after so many seconds; a second one at once."""
    future: Future[T] | None = None
    try:
        future = begin()
        return future.result()
    except BaseException:
        if future is None or not future.done():
            cancel()
            wait([future] if future else [], seconds)
        raise


_LIVING: weakref.WeakSet[LoopThread] = weakref.WeakSet()


def _end_all() -> None:
    for thread in list(_LIVING):
        thread.end(LEAVE_SECONDS)


atexit.register(_end_all)


def _begin(begin: Callable[[], Coroutine[Any, Any, T]], future: Future[T]) -> None:
    try:
        task = asyncio.get_running_loop().create_task(begin())
    except BaseException as error:
        future.set_exception(error)
        return
    task.add_done_callback(lambda done: _settle(done, future))


def _settle(task: asyncio.Task[T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if task.cancelled():
        future.set_exception(Closed("This agent was closed before the call had ended."))
    elif error := task.exception():
        future.set_exception(error)
    else:
        future.set_result(task.result())
