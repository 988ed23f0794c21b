"""A session copied under a new id: all that is finished of it, and nothing that still runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hermes_acp.agent.store.codec import decode_event
from hermes_acp.agent.store.database import transaction
from hermes_acp.agent.store.queries import add_message, add_session, known_session, read_messages
from hermes_acp.agent.store.records import SessionRecord, StoredMessage, now
from hermes_acp.events import Event, ToolFinished, ToolPrepared
from hermes_acp.messages import AssistantMessage, ToolMessage
from hermes_acp.text import clean

_Shown = tuple[int, str, str]


def fork_session(connection: sqlite3.Connection, any_id: str, fork_id: str, roots: tuple[str, ...]) -> SessionRecord:
    """Copy a session as a lineage of its own, with these further folders; the source is only read.

    Its messages are those of the source's newest segment. A call without a result and a card that has not
    ended belong to a turn that still runs, or that was killed: they are left out.

    Raises:
        SessionNotFound: no session and no segment has the id `any_id`.
    """
    fork_id = clean(fork_id)
    with transaction(connection):
        source, moment = known_session(connection, any_id), now()
        fork = replace(source, id=fork_id, roots=roots, created_at=moment, updated_at=moment, cost=0.0)
        add_session(connection, fork)
        for stored in _finished_steps(read_messages(connection, source.id)):
            add_message(connection, fork_id, stored)
        _copy_transcript(connection, source.id, fork_id)
    return fork


def _finished_steps(stored: Sequence[StoredMessage]) -> Iterator[StoredMessage]:
    """The messages without calls that have no result. What a reply says beside such calls alone is not an
    answer: it goes with them."""
    for index, each in enumerate(stored):
        reply = each.message
        if not isinstance(reply, AssistantMessage) or not reply.tool_calls:
            yield each
            continue
        answered = _results_from(stored, index + 1)
        if calls := tuple(call for call in reply.tool_calls if call.id in answered):
            yield replace(each, message=replace(reply, tool_calls=calls))


def _results_from(stored: Sequence[StoredMessage], start: int) -> set[str]:
    """The calls that the results from here on answer, up to the next message of another role."""
    answered = set()
    for each in stored[start:]:
        if not isinstance(each.message, ToolMessage):
            break
        answered.add(each.message.call_id)
    return answered


def _copy_transcript(connection: sqlite3.Connection, lineage: str, fork_id: str) -> None:
    rows = connection.execute(
        "SELECT turn, kind, body FROM transcript WHERE session_id = ? ORDER BY seq", (lineage,)
    ).fetchall()
    connection.executemany(
        "INSERT INTO transcript (session_id, turn, kind, body) VALUES (?, ?, ?, ?)",
        [(fork_id, *row) for row in _ended_cards(rows)],
    )


def _ended_cards(rows: Sequence[_Shown]) -> Iterator[_Shown]:
    """The rows without the beginning of a card that has no end."""
    finished = (_event_of(row, "tool_finished") for row in rows)
    ended = {event.call_id for event in finished if isinstance(event, ToolFinished)}
    for row in rows:
        begun = _event_of(row, "tool_prepared")
        if not isinstance(begun, ToolPrepared) or begun.call_id in ended:
            yield row


def _event_of(row: _Shown, kind: str) -> Event | None:
    return decode_event(kind, row[2]) if row[1] == kind else None
