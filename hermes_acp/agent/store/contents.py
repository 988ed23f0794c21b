"""Contents of files, each kept once, compressed, and as a difference where it is like one that is there already."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib

LONGEST_CHAIN = 20
"""So many differences may stand on each other before a content is kept whole again."""

KEPT_FILE_BYTES = 10 * 1024 * 1024
"""Contents above this are not kept."""

KEPT_BYTES = 200_000_000
"""What all contents may take, compressed; beyond it the oldest are let go."""

_ROOM = 0.9
_LEVEL = 6


def digest_of(data: bytes | None) -> bytes | None:
    """The name of a content; None for a file that is not there."""
    return None if data is None else hashlib.blake2b(data, digest_size=32).digest()


def keep_content(connection: sqlite3.Connection, data: bytes, like: bytes | None) -> bytes:
    """Keep a content, within a transaction; its digest.

    Args:
        connection: of the store.
        data: the content.
        like: the digest of one that may have much in common with it.
    """
    digest = digest_of(data)
    assert digest is not None
    if len(data) > KEPT_FILE_BYTES or _is_kept(connection, digest):
        return digest
    base, depth, head, tail = _common(connection, data, like)
    packed = zlib.compress(data[head : len(data) - tail], _LEVEL)
    connection.execute(
        "INSERT INTO contents (digest, size, depth, base, head, tail, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (digest, len(packed), depth, base, head, tail, packed),
    )
    return digest


def content_of(connection: sqlite3.Connection, digest: bytes) -> bytes | None:
    """The content of this name; None when it is not kept."""
    links: list[tuple[int, int, bytes]] = []
    following: bytes | None = digest
    while following is not None:
        row = connection.execute(
            "SELECT base, head, tail, data FROM contents WHERE digest = ?", (following,)
        ).fetchone()
        if row is None:
            return None
        following, head, tail, packed = row
        links.append((head, tail, packed))
    data = b""
    for head, tail, packed in reversed(links):
        data = data[:head] + zlib.decompress(packed) + data[len(data) - tail :]
    return data if digest_of(data) == digest else None


def make_room(connection: sqlite3.Connection) -> None:
    """Let go of the oldest contents when all of them take more than `KEPT_BYTES`, within a transaction."""
    if _size(connection) <= KEPT_BYTES:
        return
    while _size(connection) > _ROOM * KEPT_BYTES and _let_go_of_oldest(connection):
        drop_unused(connection)


def drop_unused(connection: sqlite3.Connection) -> None:
    """Delete the contents that no change needs, within a transaction."""
    while connection.execute(
        """
        DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM file_changes WHERE held = digest AND kept = 1)
        AND NOT EXISTS (SELECT 1 FROM file_changes WHERE disk = digest AND kept = 1)
        AND NOT EXISTS (SELECT 1 FROM contents AS other WHERE other.base = contents.digest)
        """
    ).rowcount:
        pass


def _let_go_of_oldest(connection: sqlite3.Connection) -> bool:
    """Whether there was one; the newest change is never let go."""
    return bool(
        connection.execute(
            """
            UPDATE file_changes SET kept = 0 WHERE seq IN (
                SELECT seq FROM file_changes WHERE kept = 1 AND seq < (SELECT max(seq) FROM file_changes)
                ORDER BY seq LIMIT 20
            )
            """
        ).rowcount
    )


def _size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(sum(size), 0) FROM contents").fetchone()[0])


def _is_kept(connection: sqlite3.Connection, digest: bytes) -> bool:
    return connection.execute("SELECT 1 FROM contents WHERE digest = ?", (digest,)).fetchone() is not None


def _common(connection: sqlite3.Connection, data: bytes, like: bytes | None) -> tuple[bytes | None, int, int, int]:
    """What the content is a difference to, how many differences that makes, and how many bytes at the beginning and
    the end they share; nothing when it is better kept whole."""
    whole = (None, 0, 0, 0)
    row = connection.execute("SELECT depth FROM contents WHERE digest = ?", (like,)).fetchone()
    if like is None or row is None or row[0] >= LONGEST_CHAIN:
        return whole
    base = content_of(connection, like)
    if base is None:
        return whole
    most = min(len(base), len(data))
    head = _shared(base, data, most)
    tail = _shared_end(base, data, most - head)
    return (like, row[0] + 1, head, tail) if head + tail > len(data) // 2 else whole


def _shared(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two contents begin with in common, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
