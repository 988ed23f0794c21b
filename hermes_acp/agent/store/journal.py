"""The way the facts of one session enter the store: noted at once, written in order, together."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from typing import Unpack

from hermes_acp.agent.store.changes import FileAfter, FileBefore, PastTurn, read_past_turn
from hermes_acp.agent.store.codec import recorded
from hermes_acp.agent.store.database import transaction
from hermes_acp.agent.store.facts import (
    Changed,
    Done,
    Dropped,
    Fact,
    Lineage,
    Replaced,
    Rows,
    Shown,
    Undone,
    touch_session,
    write_facts,
)
from hermes_acp.agent.store.queries import read_events
from hermes_acp.agent.store.records import Changes, StoredMessage
from hermes_acp.agent.store.thread import StoreThread
from hermes_acp.errors import SessionDeleted
from hermes_acp.events import Event
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message


@dataclass(frozen=True, slots=True)
class Place:
    """Where the facts of a session go: its id, its newest segment, the number of its last turn, and the row of the
    last one that can be undone."""

    session_id: str
    segment_id: str
    turn: int
    turn_seq: int = 0


class Journal:
    """The facts of one session, in the order they happened.

    Noting a fact never waits, so that a cancelled turn has either said and noted it or done neither.
    `commit` writes; a fact whose write failed stays and goes first into the next.
    """

    def __init__(self, thread: StoreThread, place: Place) -> None:
        self._thread = thread
        self._session_id = place.session_id
        self._segment_id = place.segment_id
        self._turn = place.turn
        self._opened_at = place.turn_seq
        self._lineage = Lineage(place.session_id, uuid.uuid4().hex)
        self._noted = 0
        # Appended to by the loop, taken from the front by the store thread.
        self._pending: list[Fact] = []
        self._written = 0
        # Touched by the store thread alone.
        self._rows = Rows()

    @property
    def turn(self) -> int:
        """The number of the turn that facts belong to now; 0 before the first."""
        return self._turn

    @property
    def segment_id(self) -> str:
        """The id of the newest segment, to which messages belong now."""
        return self._segment_id

    @property
    def settled(self) -> bool:
        """Whether everything that was noted is written."""
        return not self._pending

    def begin_turn(self) -> int:
        """The number of the turn that starts here."""
        self._turn += 1
        return self._turn

    def add_message(self, message: Message) -> None:
        """Note what the model will see from now on."""
        self._note(StoredMessage(self._turn, message))

    def add_event(self, event: Event) -> None:
        """Note what the person was shown; an event that no replay shows is let pass."""
        if recorded(event):
            self._note(Shown(self._turn, event))

    def drop_turn(self) -> None:
        """Forget the messages of the current turn; what was shown of it stays in the transcript."""
        self._note(Dropped(self._turn))

    def begin_segment(self, messages: Sequence[Message], of_turn: int = 0) -> None:
        """Note that the model sees exactly these messages from now on: they begin a segment of the session, whose
        parent is the one before. The transcript goes on.

        Args:
            messages: all of them.
            of_turn: so many of them, the last ones, belong to the turn that runs.
        """
        self._segment_id = str(uuid.uuid4())
        self._note(Replaced(self._segment_id, self._turn, tuple(messages), of_turn))

    def update(self, **changes: Unpack[Changes]) -> None:
        """Note new values of the session's own fields; `options` replaces all of them."""
        unknown = changes.keys() - Changes.__annotations__.keys()
        if unknown:
            raise TypeError(f"a session has no {', '.join(sorted(unknown))} to change")
        self._note(Changed(changes))

    def keep(self, before: FileBefore) -> None:
        """Note what a file holds, before it is changed."""
        self._note(Done(self._turn, before))

    def correct(self, after: FileAfter) -> None:
        """Note what a file holds after a change, where that is not what it was to hold."""
        self._note(Done(self._turn, after))

    def ran(self, line: str) -> None:
        """Note that a command runs which may change files."""
        self._note(Done(self._turn, line))

    def mark_undone(self, past: PastTurn) -> None:
        """Note that a turn has been undone."""
        self._note(Undone(past.seq))

    async def past_turn(self) -> PastTurn | None:
        """The last turn that was not undone yet; everything noted so far is written first.

        Raises:
            StoreError: it cannot be read, or written, now.
        """
        await self.commit()
        return await self._thread.run(read_past_turn, self._session_id, self._lineage.writer, self._opened_at)

    async def shown(self) -> list[Event]:
        """What the person was shown in the session up to this very moment, and nothing that comes after it; what was
        noted of it is written first.

        Raises:
            StoreError: it cannot be read, or written, now.
        """
        return await self._thread.run(self._read, self._noted)

    async def commit(self, durable: bool = False) -> None:
        """Write everything noted so far in one transaction; it is written even when the waiter is cancelled.

        A `durable` commit survives the loss of power, and so does all that was committed before it; any
        other survives the death of the process.

        Raises:
            StoreError: nothing was written; the facts stay for the next commit.
            SessionDeleted: nothing was written, and nothing will be.
        """
        await self._thread.run(self._write, self._noted, durable)

    def _note(self, fact: Fact) -> None:
        self._pending.append(fact)
        self._noted += 1

    def _write(self, connection: sqlite3.Connection, upto: int, durable: bool) -> None:
        facts = self._pending[: max(upto - self._written, 0)]
        if not facts and not durable:
            return
        try:
            with transaction(connection, durable):
                touch_session(connection, self._session_id)
                rows = write_facts(connection, self._lineage, facts, self._rows)
        except SessionDeleted:
            self._let_go_of(len(facts))
            raise
        self._rows = rows
        self._let_go_of(len(facts))

    def _read(self, connection: sqlite3.Connection, upto: int) -> list[Event]:
        self._write(connection, upto, durable=False)
        return read_events(connection, self._session_id)

    def _let_go_of(self, facts: int) -> None:
        del self._pending[:facts]
        self._written += facts
