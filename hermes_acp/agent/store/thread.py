"""The one thread that touches the database, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Concatenate, ParamSpec, TypeVar

from hermes_acp.agent.store.database import Database, note_damage, primary_code, store_error
from hermes_acp.agent.store.word_index import is_index_damaged, repair_word_index
from hermes_acp.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")
_Job = Callable[[sqlite3.Connection], None]

log = logging.getLogger(__name__)


class StoreThread:
    """Runs functions on the database, one after the other in the order they were handed in.

    To be used from the loop it was opened on. A function that was handed in is run even when nobody waits
    for it any more.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._ended: asyncio.Future[None] = self._loop.create_future()

    @classmethod
    async def open(cls, open_database: Callable[[], Database]) -> tuple[StoreThread, Database]:
        """The running thread and its database, whose connection is for the thread alone.

        Raises:
            StoreError: the database cannot be used.
        """
        thread = cls()
        opened: asyncio.Future[Database] = thread._loop.create_future()
        threading.Thread(target=thread._live, args=(open_database, opened), name="hermes-store", daemon=True).start()
        try:
            return thread, await opened
        except BaseException:
            thread._jobs.put(None)
            raise

    async def run(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns for the connection and the arguments.

        Raises:
            StoreError: SQLite failed, or the store is closed.
        """
        if self._closed:
            raise StoreError("The session store is closed.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(lambda connection: self._answer(future, _noting_damage(connection, function, *args, **kwargs)))
        return await future

    async def aclose(self) -> None:
        """End the thread after everything handed in has been done, and close the database."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        await asyncio.shield(self._ended)

    def _live(self, open_database: Callable[[], Database], opened: asyncio.Future[Database]) -> None:
        try:
            database = open_database()
        except Exception as error:
            self._deliver(opened, _translated(error))
            return
        self._deliver(opened, database)
        while (job := self._jobs.get()) is not None:
            job(database.connection)
        with contextlib.suppress(sqlite3.Error):
            database.connection.close()
        self._deliver(self._ended, None)

    def _answer(self, future: asyncio.Future[T], work: Callable[[], T]) -> None:
        try:
            outcome: T | Exception = work()
        except Exception as error:
            outcome = _translated(error)
        self._deliver(future, outcome)

    def _deliver(self, future: asyncio.Future[T], outcome: T | Exception) -> None:
        with contextlib.suppress(RuntimeError):  # The loop has gone, and everyone who waited with it.
            self._loop.call_soon_threadsafe(_settle, future, outcome)


def _settle(future: asyncio.Future[T], outcome: T | Exception) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _noting_damage(
    connection: sqlite3.Connection,
    function: Callable[Concatenate[sqlite3.Connection, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Callable[[], T]:
    """The function as it is to run; damage of the file that it meets is noted beside it."""

    def run() -> T:
        try:
            return _with_index(connection, lambda: function(connection, *args, **kwargs))
        except sqlite3.Error as error:
            note_damage(connection, error)
            raise

    return run


def _with_index(connection: sqlite3.Connection, work: Callable[[], T]) -> T:
    """What the work gives, which is done once more where only the index of words was damaged."""
    try:
        return work()
    except sqlite3.Error as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT or not is_index_damaged(connection):
            raise
        log.warning("the index of words is damaged and made anew: %s", error)
    repair_word_index(connection)
    return work()


def _translated(error: Exception) -> Exception:
    return store_error(error) if isinstance(error, sqlite3.Error) else error
