"""The hash of what a file or a folder holds, by which a person's word on it is kept."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

LARGEST_FILE = 1_000_000
"""Bytes of the largest file that a word can be given on as a text."""

_LARGEST_FOLDER = 32_000_000
_MOST_ENTRIES = 1_000
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def of_file(path: Path, largest: int = LARGEST_FILE) -> str:
    """The hash of a regular file's content; "" when it cannot be read or has more than `largest` bytes."""
    data = content(path, largest)
    return "" if data is None else of_bytes(data)


def of_bytes(data: bytes) -> str:
    """The hash of a content."""
    return hashlib.sha256(data).hexdigest()


def of_folder(folder: Path) -> str:
    """The hash of all that lies in a folder: names, contents, which files can be run, where links lead.

    "" when it cannot be read as a whole, or is larger than what instructs somebody would be.
    """
    total = hashlib.sha256()
    left = _LARGEST_FOLDER
    try:
        for count, (name, path) in enumerate(_below(os.fsencode(folder), b""), 1):
            if count > _MOST_ENTRIES:
                return ""
            what, data = _entry(path, left)
            left -= len(data)
            total.update(b"%d %s %s %s\0" % (len(name), name, what, of_bytes(data).encode()))
    except (OSError, ValueError):
        return ""
    return total.hexdigest()


def content(path: Path | bytes, largest: int) -> bytes | None:
    """What a regular file holds; None when it cannot be read or has more than `largest` bytes. Waits for no pipe."""
    try:
        handle = os.open(path, _READ)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(largest + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= largest else None


def _below(folder: bytes, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Everything in a folder that is no folder itself, as name and path, in an order of its own."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if stat.S_ISDIR(os.lstat(path).st_mode):
            yield from _below(path, prefix + name + b"/")
        else:
            yield prefix + name, path


def _entry(path: bytes, left: int) -> tuple[bytes, bytes]:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return b"link", os.readlink(path)
    if not stat.S_ISREG(mode):
        return b"other", b""
    data = content(path, left)
    if data is None:
        raise ValueError("it cannot be read, or is too large")
    return b"program" if mode & 0o111 else b"file", data
