"""The words of messages, kept so that they can be searched: in full text where SQLite has it."""

from __future__ import annotations

import sqlite3

from hermes_acp.agent.store.codec import decode_message
from hermes_acp.agent.store.schema import all_or_nothing
from hermes_acp.messages import AssistantMessage, Message, UserMessage
from hermes_acp.text import clean

LONGEST_TEXT = 20_000
"""Of a message this many characters can be found."""

LARGEST_STRUCTURE = 1_000
"""Bytes of the record of the index's levels. Each optimisation adds a level, two bytes of it; from 2,000 levels on
SQLite takes the index for damaged. Only an index made anew begins at the first level again."""

_INDEX = (
    """
    CREATE VIRTUAL TABLE IF NOT EXISTS words
    USING fts5(text, content = 'said', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2')
    """,
    """
    CREATE TRIGGER said_added AFTER INSERT ON said BEGIN
        INSERT INTO words (rowid, text) VALUES (new.seq, new.text);
    END
    """,
    """
    CREATE TRIGGER said_deleted AFTER DELETE ON said BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.seq, old.text);
    END
    """,
    "INSERT INTO words (words) VALUES ('rebuild')",
)
_WITHOUT_INDEX = ("DROP TRIGGER said_added", "DROP TRIGGER said_deleted")


def has_full_text(connection: sqlite3.Connection) -> bool:
    """Whether this Python's SQLite has FTS5."""
    return _exists(connection, "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")


def keep_word_index(connection: sqlite3.Connection) -> None:
    """See that the index follows the texts where that can be done, and that nothing needs it where it cannot: a
    Python without FTS5 could not write into the tables otherwise."""
    wanted = has_full_text(connection)
    if wanted == _is_indexed(connection):
        return
    with all_or_nothing(connection):
        if wanted != _is_indexed(connection):
            for statement in _INDEX if wanted else _WITHOUT_INDEX:
                connection.execute(statement)


def note_what_was_said(connection: sqlite3.Connection, number: int, message: Message) -> None:
    """Let the words of a message that was stored as this row be found, within the same transaction."""
    if text := clean(_words_of(message)):
        connection.execute("INSERT OR IGNORE INTO said (seq, text) VALUES (?, ?)", (number, text))


def add_older_words(connection: sqlite3.Connection, count: int) -> bool:
    """Let the words of some messages be found that were stored before there was a search, the newest first.

    Args:
        connection: of the store.
        count: at most so many messages.

    Returns:
        Whether there are more.
    """
    up_to = connection.execute("SELECT max(up_to_seq) FROM not_in_said").fetchone()[0] or 0
    if not up_to:
        return False
    rows = connection.execute(
        "SELECT seq, body FROM messages WHERE seq <= ? AND role IN ('user', 'assistant') ORDER BY seq DESC LIMIT ?",
        (up_to, count),
    ).fetchall()
    left = rows[-1][0] - 1 if len(rows) == count else 0
    with all_or_nothing(connection):
        for number, body in rows:
            if message := decode_message(body):
                note_what_was_said(connection, number, message)
        connection.execute("UPDATE not_in_said SET up_to_seq = ?", (left,))
    return left > 0


def forget_deleted_words(connection: sqlite3.Connection) -> None:
    """Take words out of the file whose texts were deleted: the index only marks them, within a transaction."""
    if not _is_indexed(connection):
        return
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    if connection.execute("SELECT length(block) FROM words_data WHERE id = 10").fetchone()[0] > LARGEST_STRUCTURE:
        _rebuild(connection)


def repair_word_index(connection: sqlite3.Connection) -> None:
    """Make the index anew from the texts: it holds nothing that they do not.

    Raises:
        sqlite3.Error: more than the index is damaged.
    """
    with all_or_nothing(connection):
        _rebuild(connection)


def is_index_damaged(connection: sqlite3.Connection) -> bool:
    """Whether the index does not fit the texts, or itself; all of both is read."""
    if not _is_indexed(connection):
        return False
    try:
        with all_or_nothing(connection):
            connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    except sqlite3.Error as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_CORRUPT_VTAB
    return False


def _rebuild(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('rebuild')")


def _is_indexed(connection: sqlite3.Connection) -> bool:
    return _exists(connection, "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = 'said_added'")


def _exists(connection: sqlite3.Connection, query: str) -> bool:
    return connection.execute(query).fetchone() is not None


def _words_of(message: Message) -> str:
    """What was said in words; "" for tool results and for what the agent says of itself."""
    match message:
        case UserMessage():
            return message.text.strip()[:LONGEST_TEXT]
        case AssistantMessage(synthetic=False):
            return message.text.strip()[:LONGEST_TEXT]
        case _:
            return ""
