"""Looking for words in past sessions: the best place of each, with what was said around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hermes_acp.agent.store.queries import COLUMNS, to_record
from hermes_acp.agent.store.records import FoundSession, Said, Search
from hermes_acp.agent.store.word_index import has_full_text
from hermes_acp.text import clean

_MOST_PLACES = 2_000
"""So many places are looked at, the best or newest, before the best of each session is taken."""

_NEWEST_TEXTS = 50_000
"""So many texts are read where there is no index that answers."""

_BEFORE, _AFTER = 1, 2

_OF_SESSIONS = f"""
SELECT {", ".join(f"s.{column}" for column in COLUMNS.split(", "))}, places.seq, min(places.rank) AS best
FROM places JOIN messages m ON m.seq = places.seq
JOIN segments g ON g.id = m.segment_id JOIN sessions s ON s.id = g.session_id
GROUP BY s.id ORDER BY best, s.updated_at DESC LIMIT :limit
"""
_ELSEWHERE = """
JOIN messages m ON m.seq = {seq} JOIN segments g ON g.id = m.segment_id JOIN sessions s ON s.id = g.session_id
WHERE s.id != :besides AND s.prompted = 1 AND (:cwd IS NULL OR s.cwd = :cwd)
"""
_BY_INDEX = f"""
WITH places (seq, rank) AS MATERIALIZED (
    SELECT words.rowid, words.rank FROM words {_ELSEWHERE.format(seq="words.rowid")} AND words MATCH :match
    ORDER BY words.rank LIMIT {_MOST_PLACES}
) {_OF_SESSIONS}
"""
_BY_READING = f"""
WITH newest AS (SELECT seq, text FROM said ORDER BY seq DESC LIMIT {_NEWEST_TEXTS}),
places (seq, rank) AS MATERIALIZED (
    SELECT newest.seq, -newest.seq FROM newest {_ELSEWHERE.format(seq="newest.seq")} AND {{holds}}
    ORDER BY newest.seq DESC LIMIT {_MOST_PLACES}
) {_OF_SESSIONS}
"""


def search_sessions(connection: sqlite3.Connection, search: Search) -> list[FoundSession]:
    """The sessions that hold all the words, else those that hold any of them; the best first.

    An index finds words and their beginnings. Where it finds nothing, or there is none, the newest texts are read
    for the words as parts of others: so languages without spaces are found as well.
    """
    search = replace(search, words=tuple(map(clean, search.words)))
    rows: Sequence[tuple[Any, ...]] = ()
    if has_full_text(connection):
        rows = _by_index(connection, search, " AND ") or _by_index(connection, search, " OR ")
    return [_found(connection, row) for row in rows or _by_reading(connection, search)]


def _by_index(connection: sqlite3.Connection, search: Search, between: str) -> list[tuple[Any, ...]]:
    match = between.join(f'"{word.replace(chr(34), chr(34) * 2)}"*' for word in search.words)
    return connection.execute(_BY_INDEX, {**_values(search), "match": match}).fetchall()


def _by_reading(connection: sqlite3.Connection, search: Search) -> list[tuple[Any, ...]]:
    patterns = {f"word{number}": f"%{_escaped(word)}%" for number, word in enumerate(search.words)}
    holds = " AND ".join(f"newest.text LIKE :{name} ESCAPE '\\'" for name in patterns)
    return connection.execute(_BY_READING.format(holds=holds), {**_values(search), **patterns}).fetchall()


def _values(search: Search) -> dict[str, Any]:
    return {"besides": clean(search.besides), "cwd": search.cwd and clean(search.cwd), "limit": search.limit}


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _found(connection: sqlite3.Connection, row: Sequence[Any]) -> FoundSession:
    *record, seq, _ = row
    return FoundSession(to_record(tuple(record)), _around(connection, seq))


def _around(connection: sqlite3.Connection, seq: Any) -> tuple[Said, ...]:
    """What was said at a place and next to it, in the same segment."""
    query = """
    SELECT m.role, said.text, m.seq FROM messages m JOIN said ON said.seq = m.seq
    WHERE m.segment_id = (SELECT segment_id FROM messages WHERE seq = ?) AND m.seq {side} ?
    ORDER BY m.seq {order} LIMIT ?
    """
    before = connection.execute(query.format(side="<", order="DESC"), (seq, seq, _BEFORE)).fetchall()
    after = connection.execute(query.format(side=">=", order="ASC"), (seq, seq, _AFTER + 1)).fetchall()
    return tuple(Said(role, text, number == seq) for role, text, number in [*reversed(before), *after])
