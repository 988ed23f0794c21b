"""The facts of a session, and how each is written into its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby

from hermes_acp.agent.store.changes import (
    FileAfter,
    FileBefore,
    TurnKey,
    mark_undone,
    note_after,
    note_before,
    note_command,
    note_prompt,
)
from hermes_acp.agent.store.codec import dump, encode_event, merged
from hermes_acp.agent.store.queries import add_message, add_segment, newest_segment
from hermes_acp.agent.store.records import Changes, StoredMessage
from hermes_acp.errors import SessionDeleted
from hermes_acp.events import Event
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message, UserMessage
from hermes_acp.text import clean


@dataclass(frozen=True, slots=True)
class Shown:
    """What the person was shown."""

    turn: int
    event: Event


@dataclass(frozen=True, slots=True)
class Dropped:
    """The messages of a turn are left out."""

    turn: int


@dataclass(frozen=True, slots=True)
class Changed:
    """Fields of the session have new values."""

    changes: Changes


@dataclass(frozen=True, slots=True)
class Replaced:
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
class Rows:
    """Where this journal has written the messages of its newest turn. Another window may have the session open
    and count its own turns: a number alone does not say whose messages they are."""

    turn: int = 0
    numbers: tuple[int, ...] = ()

    def with_one(self, turn: int, number: int) -> Rows:
        return Rows(turn, (*self.numbers, number) if turn == self.turn else (number,))


@dataclass(frozen=True, slots=True)
class Done:
    """Something that a turn did, or is about to do: a change of a file, or a command line."""

    turn: int
    what: FileBefore | FileAfter | str


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn has been taken back."""

    turn_seq: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """A session, as one journal writes it."""

    session_id: str
    writer: str

    def turn(self, number: int) -> TurnKey:
        return TurnKey(self.session_id, number, self.writer)


Fact = StoredMessage | Shown | Dropped | Changed | Replaced | Done | Undone


def touch_session(connection: sqlite3.Connection, session_id: str) -> None:
    """See that the session is there, with a write: an empty transaction would not make earlier ones durable."""
    done = connection.execute("UPDATE sessions SET updated_at = updated_at WHERE id = ?", (session_id,))
    if not done.rowcount:
        raise SessionDeleted(session_id)


def write_facts(connection: sqlite3.Connection, lineage: Lineage, facts: Sequence[Fact], rows: Rows) -> Rows:
    """The rows of the newest turn's messages after the facts have been written; `rows` are those before.

    Messages go to the segment that is the newest now: another window may have begun it.
    """
    session_id = lineage.session_id
    segment = newest_segment(connection, session_id)
    for fact in facts:
        match fact:
            case StoredMessage():
                number = add_message(connection, segment, fact)
                rows = rows.with_one(fact.turn, number)
                if isinstance(fact.message, UserMessage):
                    note_prompt(connection, lineage.turn(fact.turn), number)
            case Done(turn, what):
                _write_done(connection, lineage.turn(turn), what)
            case Undone(turn_seq):
                mark_undone(connection, turn_seq)
            case Dropped(turn):
                rows = _drop_messages(connection, turn, rows)
            case Changed(changes):
                _change_session(connection, session_id, changes)
            case Replaced():
                rows = _begin_segment(connection, session_id, segment, fact)
                segment = fact.segment_id
    _write_shown(connection, session_id, [fact for fact in facts if isinstance(fact, Shown)])
    return rows


def _write_done(connection: sqlite3.Connection, key: TurnKey, what: FileBefore | FileAfter | str) -> None:
    match what:
        case FileBefore():
            note_before(connection, key, what)
        case FileAfter():
            note_after(connection, key, what)
        case line:
            note_command(connection, key, line)


def _begin_segment(connection: sqlite3.Connection, session_id: str, parent: str, fact: Replaced) -> Rows:
    add_segment(connection, session_id, fact.segment_id, parent)
    rows = Rows(fact.turn)
    for stored in fact.stored():
        number = add_message(connection, fact.segment_id, stored)
        rows = rows.with_one(stored.turn, number) if stored.turn == fact.turn else rows
    return rows


def _drop_messages(connection: sqlite3.Connection, turn: int, rows: Rows) -> Rows:
    if rows.turn < turn:
        return rows
    numbers = [(number,) for number in rows.numbers]
    connection.executemany("DELETE FROM messages WHERE seq = ?", numbers)
    connection.executemany("UPDATE turns SET prompt = NULL WHERE prompt = ?", numbers)
    return Rows()


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


def _write_shown(connection: sqlite3.Connection, session_id: str, facts: Sequence[Shown]) -> None:
    for turn, group in groupby(facts, lambda fact: fact.turn):
        connection.executemany(
            "INSERT INTO transcript (session_id, turn, kind, body) VALUES (?, ?, ?, ?)",
            [(session_id, turn, kind, body) for kind, body in map(encode_event, merged(fact.event for fact in group))],
        )
