"""A thread that makes the calls into one plugin, one after the other, and that nobody has to wait for."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

log = logging.getLogger(__name__)

Work = Callable[[], Any]


class Fault(Exception):
    """A plugin has raised something; the text is what kind of thing."""


class Worker:
    """Runs work in a daemon thread in the order it came: a call that never returns holds up neither the threads of
    others nor the end of the process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[tuple[Work, Future[Any]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, work: Work) -> Future[Any]:
        """Run this once all before it has ended; work whose future was cancelled meanwhile is left out."""
        future: Future[Any] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"plugin {self._name}", daemon=True)
                self._thread.start()
        self._work.put((work, future))
        return future

    def _run(self) -> None:
        while True:
            work, future = self._work.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                # Whatever it raises, SystemExit included, is an answer to its call and not the thread's end.
                log.warning("the plugin %s failed", self._name, exc_info=error)
                future.set_exception(Fault(type(error).__name__))
