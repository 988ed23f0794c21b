"""Threads that no end of the interpreter waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOST = 32
"""So many work at once; what comes beside them waits."""


class DaemonThreads(ThreadPoolExecutor):
    """The executor of a loop, made of daemon threads.

    The threads of the standard one are joined when the interpreter ends, so that one stuck file or callback would
    hang it; and it takes no work from then on, although a turn may still have to be closed. (It is a subclass in
    name alone, because a loop takes nothing else.)
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._due = 0
        self._alive = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._due += 1
            if self._due > self._alive and self._alive < MOST:
                self._start()
        self._jobs.put(partial(_settle, future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let every thread end once it is idle; none is waited for."""
        with self._lock:
            for _ in range(self._alive):
                self._jobs.put(None)

    def _start(self) -> None:
        """One more thread; at the interpreter's end there may be no more, and those that are there do the work."""
        thread = threading.Thread(target=self._live, name="hermes-work", daemon=True)
        if self._alive:
            with suppress(RuntimeError):
                thread.start()
                self._alive += 1
        else:
            thread.start()
            self._alive += 1

    def _live(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._due -= 1


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
