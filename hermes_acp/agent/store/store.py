"""All sessions on disk, and the way to each of them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from hermes_acp.agent.store import queries
from hermes_acp.agent.store.changes import FileChange, newest_turn, read_changes
from hermes_acp.agent.store.database import open_database
from hermes_acp.agent.store.forking import fork_session
from hermes_acp.agent.store.journal import Journal, Place
from hermes_acp.agent.store.records import FoundSession, Search, SessionRecord, StoredMessage, now
from hermes_acp.agent.store.searching import search_sessions
from hermes_acp.agent.store.thread import StoreThread
from hermes_acp.agent.store.word_index import add_older_words
from hermes_acp.errors import StoreError
from hermes_acp.events import Event, PlanEntry

P = ParamSpec("P")
T = TypeVar("T")
SessionRecords = list[SessionRecord]
Messages = list[StoredMessage]
Events = list[Event]
FoundSessions = list[FoundSession]
FileChanges = list[FileChange]


class Store:
    """The sessions of one database, which is opened when it is first needed.

    Any id of a session's lineage may be given where an id is asked for. Every method raises `StoreError`
    when the database cannot be opened, read or written now, and those that need a session that exists raise
    `SessionNotFound`. An opening that has failed is tried anew by the next call.

    Attributes:
        problem: what the person should know: sessions are not kept, or a damaged file was set aside; or "".
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._opening: asyncio.Task[StoreThread] | None = None
        self.problem = ""
        self._shadows = False

    @classmethod
    async def open(cls, path: Path | None) -> Store:
        """The store in the file `path`, which is made when it is missing, or one in memory for None.

        Raises:
            StoreError: the file is of a newer version of this program, stays locked, or cannot be read now;
                it is left alone.
        """
        store = cls(path)
        await store._opened()
        return store

    def begin(self) -> None:
        """Start to open the database, without waiting for it."""
        if self._opening is None or _failed(self._opening):
            self._opening = asyncio.ensure_future(self._open())
            self._opening.add_done_callback(_failed)

    async def create(self, record: SessionRecord) -> SessionRecord:
        """Store a new session; times that are empty become this moment. Returns it as it is stored."""
        created = record.created_at or now()
        record = replace(record, created_at=created, updated_at=record.updated_at or created)
        await self._run(queries.insert_session, record)
        return record

    async def find(self, session_id: str) -> SessionRecord | None:
        """The session, or None.

        Raises:
            StoreError: also when it may be in a file that cannot be used.
        """
        found = await self._run(queries.find_session, session_id)
        if found is None and self._shadows:
            raise StoreError(f"Earlier sessions cannot be read. {self.problem}")
        return found

    async def fork(self, session_id: str, fork_id: str, roots: tuple[str, ...] = ()) -> SessionRecord:
        """A copy of a session under a new id, with these further folders and all else of the source's.

        What a turn that runs at this moment has not finished is not in the copy.
        """
        return await self._run(fork_session, session_id, fork_id, roots)

    async def list(self, cwd: str | None, after: tuple[str, str] | None, limit: int) -> list[SessionRecord]:
        """At most `limit` sessions that had a prompt, the last updated first.

        `cwd` keeps those of exactly this folder; `after` is the (updated_at, id) of the last one already seen.
        """
        return await self._run(queries.list_sessions, cwd, after, limit)

    async def beginning(self, id_beginning: str) -> SessionRecords:
        """The sessions whose ids begin so; one whose id it is stands alone."""
        found = await self._run(queries.sessions_beginning, id_beginning)
        if not found and self._shadows:
            raise StoreError(f"Earlier sessions cannot be read. {self.problem}")
        return found

    async def prompts(self, session_id: str) -> int:
        """How often the person has said something in the session."""
        return await self._run(queries.count_prompts, session_id)

    async def delete(self, session_id: str) -> None:
        """Forget a session with all its segments; an unknown one is deleted already."""
        if self._shadows:
            await self.find(session_id)
        await self._run(queries.delete_session, session_id)

    async def messages(self, session_id: str) -> Messages:
        """What the model sees: the messages of the newest segment."""
        return await self._run(queries.read_messages, session_id)

    async def events(self, session_id: str) -> Events:
        """What the person was shown, in all segments; neighbouring pieces of one message are joined."""
        return await self._run(queries.read_events, session_id)

    async def plan(self, session_id: str) -> tuple[PlanEntry, ...]:
        """The plan as the person was shown it last, the tasks given up included."""
        return await self._run(queries.read_plan, session_id)

    async def changes(self, session_id: str) -> FileChanges:
        """What the turns of the session did to files, in order."""
        return await self._run(read_changes, session_id)

    async def search(self, search: Search) -> FoundSessions:
        """The sessions that hold the words, the best first. What an older version has stored is made searchable
        here, for two seconds at most; the rest comes with the next search."""
        deadline = time.monotonic() + 2
        while await self._run(add_older_words, 500) and time.monotonic() < deadline:
            pass
        return await self._run(search_sessions, search)

    async def journal(self, session_id: str) -> Journal:
        """The way for new facts into the session. Hold one a session."""
        return Journal(await self._opened(), await self._run(_place, session_id))

    async def aclose(self) -> None:
        """Close the database after everything handed in has been written."""
        if self._opening is None or _failed(self._opening):
            return
        await (await self._opened()).aclose()

    async def _run(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await (await self._opened()).run(function, *args, **kwargs)

    async def _opened(self) -> StoreThread:
        self.begin()
        assert self._opening is not None
        return await asyncio.shield(self._opening)

    async def _open(self) -> StoreThread:
        thread, database = await StoreThread.open(partial(open_database, self._path))
        self.problem, self._shadows = database.problem, database.shadows
        return thread


def _failed(opening: asyncio.Task[StoreThread]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


def _place(connection: sqlite3.Connection, any_id: str) -> Place:
    lineage = queries.known_lineage(connection, any_id)
    segment, turn = queries.newest_segment(connection, lineage), queries.last_turn(connection, lineage)
    return Place(lineage, segment, turn, newest_turn(connection, lineage))
