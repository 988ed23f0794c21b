"""Reading and writing whole sessions: plain functions on a connection, run on the store thread."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_acp.agent.store.codec import decode_event, decode_message, dump, encode_message, merged
from hermes_acp.agent.store.contents import drop_unused
from hermes_acp.agent.store.database import transaction
from hermes_acp.agent.store.records import SessionRecord, StoredMessage, now
from hermes_acp.agent.store.word_index import forget_deleted_words, note_what_was_said
from hermes_acp.errors import SessionNotFound, StoreError
from hermes_acp.events import Event, PlanChanged, PlanEntry
from hermes_acp.messages import AssistantMessage, Message, ToolMessage, UserMessage
from hermes_acp.text import clean

log = logging.getLogger(__name__)

COLUMNS = "id, cwd, roots, title, created_at, updated_at, options, prompted, system_prompt, cost"

_ROLES: Mapping[type[Message], str] = {UserMessage: "user", AssistantMessage: "assistant", ToolMessage: "tool"}


def insert_session(connection: sqlite3.Connection, record: SessionRecord) -> None:
    """Store a new session with its first segment, which has the same id."""
    with transaction(connection):
        add_session(connection, record)


def add_session(connection: sqlite3.Connection, record: SessionRecord) -> None:
    """As `insert_session`, within a transaction."""
    if lineage_of(connection, record.id) is not None:
        raise StoreError(f"There is a session {record.id!r} already.")
    marks = ", ".join("?" * len(COLUMNS.split(", ")))
    connection.execute(f"INSERT INTO sessions ({COLUMNS}) VALUES ({marks})", _row(record))
    connection.execute(
        "INSERT INTO segments (id, session_id, created_at) VALUES (?, ?, ?)",
        (clean(record.id), clean(record.id), clean(record.created_at)),
    )


def find_session(connection: sqlite3.Connection, any_id: str) -> SessionRecord | None:
    """The session that has this id itself, or as one of its segments."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM sessions WHERE id = (SELECT session_id FROM segments WHERE id = ?)", (clean(any_id),)
    ).fetchone()
    return None if row is None else to_record(row)


def sessions_beginning(connection: sqlite3.Connection, beginning: str) -> list[SessionRecord]:
    """The sessions of which an id, their own or that of a segment, begins so; one whose id it is stands alone."""
    if exact := find_session(connection, beginning):
        return [exact]
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM sessions WHERE id IN (SELECT session_id FROM segments WHERE substr(id, 1, ?) = ?)",
        (len(clean(beginning)), clean(beginning)),
    )
    return [to_record(row) for row in rows]


def count_prompts(connection: sqlite3.Connection, session_id: str) -> int:
    """How often the person has said something in a session, commands included."""
    query = "SELECT count(*) FROM transcript WHERE session_id = ? AND kind = 'user_prompted'"
    return int(connection.execute(query, (clean(session_id),)).fetchone()[0])


def known_session(connection: sqlite3.Connection, any_id: str) -> SessionRecord:
    """As `find_session`, for an id that must exist.

    Raises:
        SessionNotFound: no session and no segment has this id.
    """
    record = find_session(connection, any_id)
    if record is None:
        raise SessionNotFound(any_id)
    return record


def list_sessions(
    connection: sqlite3.Connection, cwd: str | None, after: tuple[str, str] | None, limit: int
) -> list[SessionRecord]:
    """One page of the sessions that had a prompt, the last updated first."""
    where, values = ["prompted = 1"], list[str | int]()
    if cwd is not None:
        where.append("cwd = ?")
        values.append(clean(cwd))
    if after is not None:
        where.append("(updated_at, id) < (?, ?)")
        values += [clean(part) for part in after]
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM sessions WHERE {' AND '.join(where)} ORDER BY updated_at DESC, id DESC LIMIT ?",
        (*values, max(limit, 0)),
    )
    return [to_record(row) for row in rows]


def delete_session(connection: sqlite3.Connection, any_id: str) -> None:
    """Forget a session and all its segments; nothing happens when there is none."""
    with transaction(connection, durable=True):
        connection.execute(
            "DELETE FROM sessions WHERE id = (SELECT session_id FROM segments WHERE id = ?)", (clean(any_id),)
        )
        forget_deleted_words(connection)
        drop_unused(connection)


def add_segment(connection: sqlite3.Connection, session_id: str, segment_id: str, parent_id: str) -> None:
    """Begin a segment of a session, within a transaction."""
    connection.execute(
        "INSERT INTO segments (id, session_id, parent_segment_id, created_at) VALUES (?, ?, ?, ?)",
        (segment_id, session_id, parent_id, now()),
    )


def add_message(connection: sqlite3.Connection, segment_id: str, stored: StoredMessage) -> int:
    """Store a message after those that the segment has, within a transaction; the number of its row."""
    message = stored.message
    call_id = clean(message.call_id) if isinstance(message, ToolMessage) else None
    added = connection.execute(
        "INSERT INTO messages (segment_id, turn, role, call_id, body) VALUES (?, ?, ?, ?, ?)",
        (segment_id, stored.turn, _ROLES[type(message)], call_id, encode_message(message)),
    )
    number = added.lastrowid or 0
    note_what_was_said(connection, number, message)
    return number


def read_messages(connection: sqlite3.Connection, any_id: str) -> list[StoredMessage]:
    """The messages of the newest segment, in order."""
    segment = newest_segment(connection, known_lineage(connection, any_id))
    rows = connection.execute("SELECT turn, body FROM messages WHERE segment_id = ? ORDER BY seq", (segment,))
    decoded = [(turn, decode_message(body)) for turn, body in rows]
    _report_unread(decoded, any_id)
    return [StoredMessage(turn, message) for turn, message in decoded if message is not None]


def read_events(connection: sqlite3.Connection, any_id: str) -> list[Event]:
    """What was shown in all segments, in order; neighbouring pieces of one message are joined."""
    lineage = known_lineage(connection, any_id)
    rows = connection.execute("SELECT kind, body FROM transcript WHERE session_id = ? ORDER BY seq", (lineage,))
    decoded = [(kind, decode_event(kind, body)) for kind, body in rows]
    _report_unread(decoded, any_id)
    return list(merged(event for _, event in decoded if event is not None))


def read_plan(connection: sqlite3.Connection, any_id: str) -> tuple[PlanEntry, ...]:
    """The plan as it was shown last; empty when there was none."""
    lineage = known_lineage(connection, any_id)
    row = connection.execute(
        "SELECT kind, body FROM transcript WHERE session_id = ? AND kind = 'plan' ORDER BY seq DESC LIMIT 1", (lineage,)
    ).fetchone()
    plan = decode_event(*row) if row else None
    return plan.entries if isinstance(plan, PlanChanged) else ()


def last_turn(connection: sqlite3.Connection, lineage: str) -> int:
    """The number of the newest turn; 0 before the first."""
    shown = connection.execute(
        "SELECT turn FROM transcript WHERE session_id = ? ORDER BY seq DESC LIMIT 1", (lineage,)
    ).fetchone()
    said = connection.execute(
        "SELECT turn FROM messages WHERE segment_id = ? ORDER BY seq DESC LIMIT 1",
        (newest_segment(connection, lineage),),
    ).fetchone()
    return max(row[0] if row else 0 for row in (shown, said))


def lineage_of(connection: sqlite3.Connection, any_id: str) -> str | None:
    """The id of the session that a segment belongs to."""
    row = connection.execute("SELECT session_id FROM segments WHERE id = ?", (clean(any_id),)).fetchone()
    return None if row is None else str(row[0])


def known_lineage(connection: sqlite3.Connection, any_id: str) -> str:
    """As `lineage_of`, for an id that must exist.

    Raises:
        SessionNotFound: no session and no segment has this id.
    """
    lineage = lineage_of(connection, any_id)
    if lineage is None:
        raise SessionNotFound(any_id)
    return lineage


def newest_segment(connection: sqlite3.Connection, lineage: str) -> str:
    """The id of the segment whose messages the model is given."""
    row = connection.execute(
        "SELECT id FROM segments WHERE session_id = ? ORDER BY seq DESC LIMIT 1", (lineage,)
    ).fetchone()
    return str(row[0])


def _row(record: SessionRecord) -> tuple[str | int | float | None, ...]:
    return (
        clean(record.id),
        clean(record.cwd),
        dump(record.roots),
        clean(record.title),
        clean(record.created_at),
        clean(record.updated_at),
        dump(record.options),
        int(record.prompted),
        clean(record.system_prompt),
        record.cost,
    )


def to_record(row: tuple[Any, ...]) -> SessionRecord:
    """The session of a row of `COLUMNS`."""
    session_id, cwd, roots, title, created_at, updated_at, options, prompted, system_prompt, cost = row
    return SessionRecord(
        id=session_id,
        cwd=cwd,
        roots=tuple(json.loads(roots)),
        title=title,
        created_at=created_at,
        updated_at=updated_at,
        options=json.loads(options),
        prompted=bool(prompted),
        system_prompt=system_prompt,
        cost=cost,
    )


def _report_unread(decoded: Sequence[tuple[object, object]], session_id: str) -> None:
    unread = sum(value is None for _, value in decoded)
    if unread:
        log.warning("session %s: %d records of an unknown form were left out", session_id, unread)
