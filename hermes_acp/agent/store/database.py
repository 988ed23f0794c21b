"""Opening the database of sessions: the good file, a new one for a broken one, memory where nothing can be kept."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from hermes_acp.agent.store.schema import NotASessionStore, all_or_nothing, create_tables, refuse_newer
from hermes_acp.agent.store.word_index import keep_word_index, repair_word_index
from hermes_acp.errors import StoreError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.locking import one_at_a_time

BUSY_SECONDS = 5.0
"""How long a transaction waits for another program's to end."""

_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_WRITE})
"""What SQLite says of a disk that is full, a quota that is used up and a file that may not grow."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database, and what the person should know about it ("" when all is well).

    `shadows` says that it stands in for a file that may hold sessions and cannot be used.
    """

    connection: sqlite3.Connection
    problem: str = ""
    shadows: bool = False


def open_database(path: Path | None) -> Database:
    """Open or make the database at `path`; in memory when there is no path or it cannot be written.

    A broken file keeps its bytes under a new name. To be called on the thread that will use it.

    Raises:
        StoreError: the file is of a newer version, stays locked, or cannot be read now; it is left as it is.
    """
    if path is None:
        return _in_memory("There is no place to keep sessions")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with one_at_a_time(path.parent, BUSY_SECONDS):
            return _open_or_replace(path)
    except (OSError, sqlite3.OperationalError) as error:
        if isinstance(error, sqlite3.Error) and primary_code(error) in _BUSY:
            raise store_error(error) from error
        if _is_out_of_reach(path, error):
            raise StoreError(f"The session store {path} cannot be opened: {_reason(error)}.") from error
        shadows = os.path.isfile(path) or not os.access(path.parent, os.R_OK | os.X_OK)
        return _in_memory(f"Sessions cannot be kept in {path} ({_reason(error)})", shadows)


def _is_out_of_reach(path: Path, error: Exception) -> bool:
    """Whether a fault that may pass hides sessions: with others in memory it would look as if they were lost.

    A home that is read-only, or a full disk, is no reason to refuse work.
    """
    if not os.path.isfile(path):
        return False
    if not os.access(path, os.R_OK):
        return True
    return (
        os.access(path.parent, os.W_OK)
        and isinstance(error, sqlite3.Error)
        and not _has_no_room(error)
        and primary_code(error) != sqlite3.SQLITE_READONLY
    )


@contextmanager
def transaction(connection: sqlite3.Connection, durable: bool = False) -> Iterator[None]:
    """Write all or nothing. A `durable` one, and all before it, survives the loss of power."""
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    with all_or_nothing(connection):
        yield


def store_error(error: sqlite3.Error) -> StoreError:
    """The error of SQLite in words for a person."""
    if _has_no_room(error):
        return StoreError("The session store cannot grow: the disk is full.")
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"The session store is locked by another program (waited {BUSY_SECONDS:.0f} s).")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreError("The session store is damaged; it is set aside at the next start.")
        case _:
            return StoreError(f"The session store cannot be used: {error}.")


def note_damage(connection: sqlite3.Connection, error: sqlite3.Error) -> None:
    """Leave a mark beside a file in which damage was found, so that the next start looks through all of it: opening
    it alone would find nothing."""
    if primary_code(error) not in _BROKEN:
        return
    with suppress(OSError, sqlite3.Error):
        if file := connection.execute("PRAGMA database_list").fetchone()[2]:
            _mark_of(Path(file)).touch(mode=0o600)


def primary_code(error: sqlite3.Error) -> int:
    """The kind of an error of SQLite, without its details; -1 when it has none."""
    code = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else int(code) & 0xFF


def _open_or_replace(path: Path) -> Database:
    try:
        return Database(_checked(path))
    except sqlite3.DatabaseError as error:
        if not _is_broken(error):
            raise
    kept = _set_aside(path)
    _mark_of(path).unlink(missing_ok=True)
    return Database(
        _connect(path), f"The session store was damaged; it is kept as {kept} and a new one has been started."
    )


def _checked(path: Path) -> sqlite3.Connection:
    """The opened file; one in which damage was found before is looked through first."""
    connection = _connect(path)
    if not _mark_of(path).exists():
        return connection
    try:
        found = _first_fault(connection)
        if "fts5" in found.lower():
            repair_word_index(connection)
            found = _first_fault(connection)
        if found != "ok":
            raise NotASessionStore(found)
        _mark_of(path).unlink(missing_ok=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _first_fault(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])


def _mark_of(path: Path) -> Path:
    return path.with_name(path.name + ".damaged")


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    return primary_code(error) in _BROKEN or isinstance(error, NotASessionStore)


def _connect(path: Path) -> sqlite3.Connection:
    _make_private(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        refuse_newer(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """Make the file for its owner only, where SQLite would go by the umask.

    A file that exists is not opened here: closing it would drop the locks that this process has on it.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from None


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    # A session that someone deletes is to be gone from the file as well.
    connection.execute("PRAGMA secure_delete = ON")
    create_tables(connection)
    keep_word_index(connection)


def _in_memory(reason: str, shadows: bool = False) -> Database:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _set_up(connection)
    return Database(connection, f"{reason}: they are lost when the program ends.", shadows)


def _has_no_room(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in _NO_ROOM


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.Error) and _has_no_room(error):
        return "the disk is full"
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)


def _set_aside(path: Path) -> Path:
    kept = _free_name(path)
    path.rename(kept)
    for suffix in ("-wal", "-shm"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(kept.with_name(kept.name + suffix))
    return kept


def _free_name(path: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    kept = path.with_name(f"{path.name}.corrupt-{moment}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.corrupt-{moment}-{number}")
    return kept
