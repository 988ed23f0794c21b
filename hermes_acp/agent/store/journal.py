"""The way the facts of one session enter the store: noted at once, written in order, together."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Unpack

from hermes_acp.agent.store.codec import dump, encode_event, merged, recorded
from hermes_acp.agent.store.database import transaction
from hermes_acp.agent.store.queries import add_message, add_segment, newest_segment
from hermes_acp.agent.store.records import Changes, StoredMessage
from hermes_acp.agent.store.thread import StoreThread
from hermes_acp.errors import StoreError
from hermes_acp.events import Event
from hermes_acp.messages import Message
from hermes_acp.text import clean


@dataclass(frozen=True, slots=True)
class Place:
    """Where the facts of a session go: its id, its newest segment, and the number of its last turn."""

    session_id: str
    segment_id: str
    turn: int


@dataclass(frozen=True, slots=True)
class _Shown:
    turn: int
    event: Event


@dataclass(frozen=True, slots=True)
class _Dropped:
    turn: int


@dataclass(frozen=True, slots=True)
class _Changed:
    changes: Changes


@dataclass(frozen=True, slots=True)
class _Replaced:
    """The model sees these messages from now on, in a segment of their own; the last `of_turn` belong to the turn
    that runs."""

    segment_id: str
    turn: int
    messages: tuple[Message, ...]
    of_turn: int

    def stored(self) -> Iterator[StoredMessage]:
        earlier = len(self.messages) - self.of_turn
        for index, message in enumerate(self.messages):
            yield StoredMessage(self.turn if index >= earlier else self.turn - 1, message)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where this journal has written the messages of its newest turn. Another window may have the session open
    and count its own turns: a number alone does not say whose messages they are."""

    turn: int = 0
    numbers: tuple[int, ...] = ()

    def with_one(self, turn: int, number: int) -> _Rows:
        return _Rows(turn, (*self.numbers, number) if turn == self.turn else (number,))


_Fact = StoredMessage | _Shown | _Dropped | _Changed | _Replaced


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
        self._noted = 0
        # Appended to by the loop, taken from the front by the store thread.
        self._pending: list[_Fact] = []
        self._written = 0
        # Touched by the store thread alone.
        self._rows = _Rows()

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
            self._note(_Shown(self._turn, event))

    def drop_turn(self) -> None:
        """Forget the messages of the current turn; what was shown of it stays in the transcript."""
        self._note(_Dropped(self._turn))

    def begin_segment(self, messages: Sequence[Message], of_turn: int = 0) -> None:
        """Note that the model sees exactly these messages from now on: they begin a segment of the session, whose
        parent is the one before. The transcript goes on.

        Args:
            messages: all of them.
            of_turn: so many of them, the last ones, belong to the turn that runs.
        """
        self._segment_id = str(uuid.uuid4())
        self._note(_Replaced(self._segment_id, self._turn, tuple(messages), of_turn))

    def update(self, **changes: Unpack[Changes]) -> None:
        """Note new values of the session's own fields; `options` replaces all of them."""
        unknown = changes.keys() - Changes.__annotations__.keys()
        if unknown:
            raise TypeError(f"a session has no {', '.join(sorted(unknown))} to change")
        self._note(_Changed(changes))

    async def commit(self, durable: bool = False) -> None:
        """Write everything noted so far in one transaction; it is written even when the waiter is cancelled.

        A `durable` commit survives the loss of power, and so does all that was committed before it; any
        other survives the death of the process.

        Raises:
            StoreError: nothing was written; the facts stay for the next commit.
        """
        await self._thread.run(self._write, self._noted, durable)

    def _note(self, fact: _Fact) -> None:
        self._pending.append(fact)
        self._noted += 1

    def _write(self, connection: sqlite3.Connection, upto: int, durable: bool) -> None:
        facts = self._pending[: max(upto - self._written, 0)]
        if not facts and not durable:
            return
        with transaction(connection, durable):
            _touch(connection, self._session_id)
            rows = _write_facts(connection, self._session_id, facts, self._rows)
        self._rows = rows
        del self._pending[: len(facts)]
        self._written += len(facts)


def _touch(connection: sqlite3.Connection, session_id: str) -> None:
    """See that the session is there, with a write: an empty transaction would not make earlier ones durable."""
    done = connection.execute("UPDATE sessions SET updated_at = updated_at WHERE id = ?", (session_id,))
    if not done.rowcount:
        raise StoreError("This session has been deleted; what is said in it is no longer kept.")


def _write_facts(connection: sqlite3.Connection, session_id: str, facts: Sequence[_Fact], rows: _Rows) -> _Rows:
    """The rows of the newest turn's messages after the facts have been written; `rows` are those before.

    Messages go to the segment that is the newest now: another window may have begun it.
    """
    segment = newest_segment(connection, session_id)
    for fact in facts:
        match fact:
            case StoredMessage():
                rows = rows.with_one(fact.turn, add_message(connection, segment, fact))
            case _Dropped(turn):
                rows = _drop_messages(connection, turn, rows)
            case _Changed(changes):
                _change_session(connection, session_id, changes)
            case _Replaced():
                rows = _begin_segment(connection, session_id, segment, fact)
                segment = fact.segment_id
    _write_shown(connection, session_id, [fact for fact in facts if isinstance(fact, _Shown)])
    return rows


def _begin_segment(connection: sqlite3.Connection, session_id: str, parent: str, fact: _Replaced) -> _Rows:
    add_segment(connection, session_id, fact.segment_id, parent)
    rows = _Rows(fact.turn)
    for stored in fact.stored():
        number = add_message(connection, fact.segment_id, stored)
        rows = rows.with_one(stored.turn, number) if stored.turn == fact.turn else rows
    return rows


def _drop_messages(connection: sqlite3.Connection, turn: int, rows: _Rows) -> _Rows:
    if rows.turn < turn:
        return rows
    connection.executemany("DELETE FROM messages WHERE seq = ?", [(number,) for number in rows.numbers])
    return _Rows()


def _change_session(connection: sqlite3.Connection, session_id: str, changes: Changes) -> None:
    values = [_column(value) for value in changes.values()]
    assignments = ", ".join(f"{name} = ?" for name in changes)
    if values:
        connection.execute(f"UPDATE sessions SET {assignments} WHERE id = ?", (*values, session_id))


def _column(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, float):
        return value
    return clean(value) if isinstance(value, str) else dump(value)


def _write_shown(connection: sqlite3.Connection, session_id: str, facts: Sequence[_Shown]) -> None:
    for turn, group in groupby(facts, lambda fact: fact.turn):
        connection.executemany(
            "INSERT INTO transcript (session_id, turn, kind, body) VALUES (?, ?, ?, ?)",
            [(session_id, turn, kind, body) for kind, body in map(encode_event, merged(fact.event for fact in group))],
        )
