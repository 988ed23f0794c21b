"""The tables of the session store, and the version they carry."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hermes_acp.errors import StoreError

VERSION = 4
"""What `PRAGMA user_version` says of a database that this code reads and writes."""


_PAUSE = (0.001, 0.004)
"""Seconds between two tries to begin to write, from and to."""


class NotASessionStore(sqlite3.DatabaseError):
    """The file is a database, but of something else."""


_TABLES = (
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        cwd TEXT NOT NULL,
        roots TEXT NOT NULL,
        title TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        options TEXT NOT NULL,
        prompted INTEGER NOT NULL,
        system_prompt TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE segments (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        parent_segment_id TEXT,
        created_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE messages (
        seq INTEGER PRIMARY KEY,
        segment_id TEXT NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        role TEXT NOT NULL,
        call_id TEXT,
        body TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE transcript (
        seq INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL
    )
    """,
    "CREATE INDEX sessions_listed ON sessions (updated_at, id) WHERE prompted = 1",
    "CREATE INDEX sessions_listed_by_cwd ON sessions (cwd, updated_at, id) WHERE prompted = 1",
    "CREATE INDEX segments_of_session ON segments (session_id)",
    "CREATE INDEX messages_of_segment ON messages (segment_id)",
    "CREATE INDEX transcript_of_session ON transcript (session_id)",
)

_FOR_SEARCHING = (
    # What was said in words, tool results left out; older messages are added when somebody searches.
    """
    CREATE TABLE said (
        seq INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
        text TEXT NOT NULL
    )
    """,
    "CREATE TABLE not_in_said (up_to_seq INTEGER NOT NULL)",
    "INSERT INTO not_in_said SELECT coalesce(max(seq), 0) FROM messages",
    "CREATE INDEX plans ON transcript (session_id, seq) WHERE kind = 'plan'",
)

_COST = ("ALTER TABLE sessions ADD COLUMN cost REAL DEFAULT 0",)

_FOR_UNDOING = (
    # A turn of somebody's: `writer` is the journal that wrote it, `prompt` the row of its first message.
    """
    CREATE TABLE turns (
        seq INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        writer TEXT NOT NULL,
        prompt INTEGER,
        undone INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE UNIQUE INDEX turns_of_session ON turns (session_id, turn, writer)",
    # The digests of a file before its first change in a turn (NULL: no file) and after its last one. A file whose
    # `held` or `disk` is no longer in `contents` cannot be restored.
    """
    CREATE TABLE file_changes (
        seq INTEGER PRIMARY KEY,
        turn_seq INTEGER NOT NULL REFERENCES turns (seq) ON DELETE CASCADE,
        path BLOB NOT NULL,
        held BLOB,
        disk BLOB,
        mode INTEGER,
        made_folder BLOB,
        after BLOB,
        mixed INTEGER NOT NULL DEFAULT 0,
        kept INTEGER NOT NULL DEFAULT 1
    )
    """,
    "CREATE UNIQUE INDEX changes_of_turn ON file_changes (turn_seq, path)",
    "CREATE INDEX changes_kept ON file_changes (seq) WHERE kept = 1",
    "CREATE INDEX changes_held ON file_changes (held)",
    "CREATE INDEX changes_disk ON file_changes (disk)",
    """
    CREATE TABLE commands_run (
        seq INTEGER PRIMARY KEY,
        turn_seq INTEGER NOT NULL REFERENCES turns (seq) ON DELETE CASCADE,
        line TEXT NOT NULL
    )
    """,
    "CREATE INDEX commands_of_turn ON commands_run (turn_seq)",
    # Compressed bytes: all of a content, or what stands between the first `head` and the last `tail` bytes of `base`.
    """
    CREATE TABLE contents (
        digest BLOB PRIMARY KEY,
        size INTEGER NOT NULL,
        depth INTEGER NOT NULL,
        base BLOB,
        head INTEGER NOT NULL,
        tail INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
    "CREATE INDEX contents_size ON contents (size)",
    "CREATE INDEX contents_base ON contents (base)",
)

_STEPS = {1: _TABLES, 2: _FOR_SEARCHING, 3: _COST, 4: _FOR_UNDOING}
"""What makes a database of each version out of one of the version before; a new one takes all the steps."""


_NAMES = frozenset(
    {
        "sessions",
        "segments",
        "messages",
        "transcript",
        "said",
        "not_in_said",
        "turns",
        "file_changes",
        "commands_run",
        "contents",
    }
)


def refuse_newer(connection: sqlite3.Connection) -> None:
    """Check, without changing anything, that this code can read the database.

    Raises:
        StoreError: a newer version of the program wrote it.
        sqlite3.DatabaseError: it is not a database.
    """
    found = version_of(connection)
    if found > VERSION:
        raise StoreError(
            f"The session store was written by a newer version of hermes-acp (format {found}, this one reads "
            f"{VERSION}); it is left as it is."
        )


def version_of(connection: sqlite3.Connection) -> int:
    """The format that the database says it has; 0 when it is new."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def all_or_nothing(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that is the only one to write, from its beginning on."""
    _begin(connection)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _begin(connection: sqlite3.Connection) -> None:
    """Begin to write, or fail after the connection's own patience.

    SQLite sleeps up to 100 ms between two tries, so that of several busy programs one can wait for seconds; trying
    every few milliseconds gives each its turn.
    """
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    deadline = time.monotonic() + patience / 1000
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while not _has_begun(connection, last=time.monotonic() >= deadline):
            time.sleep(random.uniform(*_PAUSE))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")


def _has_begun(connection: sqlite3.Connection, *, last: bool) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in a new database, and bring an older one up to this version.

    Raises:
        NotASessionStore: there are other tables in it, or some are missing.
    """
    if version_of(connection) == VERSION:
        _refuse_missing(connection)
        return
    with all_or_nothing(connection):
        _take_steps(connection)


def _refuse_missing(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if missing := _NAMES - {name for (name,) in rows}:
        raise NotASessionStore(f"the database lacks the tables {', '.join(sorted(missing))}")


def _take_steps(connection: sqlite3.Connection) -> None:
    found = version_of(connection)
    if found == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise NotASessionStore("the database holds other tables")
    for version in range(found + 1, VERSION + 1):
        for statement in _STEPS[version]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
