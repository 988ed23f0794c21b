"""Reading regular files, byte for byte: never a pipe or a device, never more than was asked for.

The functions block and belong in a thread. They take resolved paths and follow no symbolic link on the way:
a path that was judged and then swapped for a link is refused (the folders are opened one by one).
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local.paths import encode
from hermes_acp.text import clean
from hermes_acp.workspace import MAX_FILE_BYTES, Lines

_CHUNK = 1024 * 1024
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFDIR: "a folder, not a file (list_files shows what is in it)",
    stat.S_IFIFO: "a named pipe, not a regular file",
    stat.S_IFSOCK: "a socket, not a regular file",
    stat.S_IFCHR: "a device, not a regular file",
    stat.S_IFBLK: "a device, not a regular file",
    stat.S_IFLNK: "a symbolic link that was not there before",
}
_REASONS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "cannot be reached: a part of the path is not a folder, or leads elsewhere now",
    errno.ELOOP: "cannot be reached: its symbolic links lead in a circle or elsewhere now",
    errno.EACCES: "cannot be opened: permission denied",
    errno.EPERM: "cannot be changed: the system does not permit it",
    errno.EROFS: "cannot be changed: the file system is read-only",
    errno.ENAMETOOLONG: "has a name that is too long",
    errno.EEXIST: "exists already",
    errno.ENOSPC: "was not changed: no space is left on the device",
    errno.EDQUOT: "was not changed: the disk quota is used up, no space is left",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `ToolError` that names the file and the reason."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or f"cannot be used: {error.strerror or error}"
        raise ToolError(f"{clean(str(path))} {reason}.") from error


@contextmanager
def folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder that holds `path`, reached without following a link; made if so asked."""
    here = os.open(b"/", _FOLDER)
    try:
        for part in encode(path.parent).split(b"/"):
            if part:
                above, here = here, _enter(here, part, create)
                os.close(above)
        yield here
    finally:
        os.close(here)


def check_regular(status: os.stat_result, path: Path) -> None:
    """Refuse whatever is not a regular file.

    Raises:
        ToolError: it is a folder, pipe, socket, device or link.
    """
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")
        raise ToolError(f"{clean(str(path))} is {kind}.")


@contextmanager
def opened(path: Path, within: int) -> Iterator[int]:
    """A descriptor for reading the regular file `path`, whose folder is open as `within`."""
    name = encode(path.name)
    check_regular(os.stat(name, dir_fd=within, follow_symlinks=False), path)
    file = os.open(name, _READ, dir_fd=within)
    try:
        check_regular(os.fstat(file), path)
        yield file
    finally:
        os.close(file)


def exists(path: Path) -> bool:
    """Whether there is anything at the path, a dangling link too."""
    return os.path.lexists(encode(path))


def is_folder(path: Path) -> bool:
    """Whether the path is a folder, not a regular file.

    Raises:
        ToolError: it is neither, or is not there.
    """
    with explained(path):
        status = os.stat(encode(path))
        if stat.S_ISDIR(status.st_mode):
            return True
        check_regular(status, path)
        return False


def read(path: Path) -> bytes:
    """All bytes of a regular file.

    Raises:
        ToolError: it cannot be read, or is larger than `MAX_FILE_BYTES`.
    """
    with explained(path), folder(path) as within, opened(path, within) as file:
        return read_all(file, path)


def read_all(file: int, path: Path) -> bytes:
    """All bytes of an open file of at most `MAX_FILE_BYTES`, whatever size it claims to have."""
    data = bytearray()
    size = os.fstat(file).st_size
    while size <= MAX_FILE_BYTES and (chunk := os.pread(file, _CHUNK, len(data))):
        data += chunk
        size = len(data)
    if size > MAX_FILE_BYTES:
        raise ToolError(
            f"{clean(str(path))} is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB: it can be read by "
            "ranges of lines and searched, but not edited."
        )
    return bytes(data)


def digest(path: Path) -> bytes | None:
    """A hash of the file's content; None when it cannot be read or is too large to be edited."""
    try:
        return digest_of(read(path))
    except ToolError:
        return None


def digest_of(data: bytes) -> bytes:
    """A hash of the content."""
    return hashlib.blake2b(data, digest_size=16).digest()


def read_lines(
    path: Path, first: int, count: int, max_bytes: int, stopped: Callable[[], bool] = lambda: False
) -> Lines:
    """At most `count` lines from line `first` (from 1) on, and at most `max_bytes`, in constant memory.

    A line ends at a line feed. `stopped` is asked between reads; once it says yes, nothing more is read.

    Raises:
        ToolError: the file cannot be read.
    """
    with explained(path), folder(path) as within, opened(path, within) as file:
        start, passed = _seek_line(file, first, stopped)
        if passed < first - 1:
            return Lines(b"", first, more=False, total=_total(file, start, passed))
        data = _take(file, start, count, max_bytes)
        more = bool(os.pread(file, 1, start + len(data)))
        total = None if more else _total(file, start + len(data), passed + data.count(b"\n"))
        return Lines(data, first, more, total)


def _enter(here: int, part: bytes, create: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=here)
    except FileNotFoundError:
        if not create:
            raise
    with _ignoring_existing():
        os.mkdir(part, dir_fd=here)
    return os.open(part, _FOLDER, dir_fd=here)


@contextmanager
def _ignoring_existing() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        return


def _seek_line(file: int, first: int, stopped: Callable[[], bool]) -> tuple[int, int]:
    """The offset of line `first` and the line feeds before it; the end of the file if it has fewer."""
    offset, passed = 0, 0
    while passed < first - 1 and not stopped():
        offset = _past_hole(file, offset)
        chunk = os.pread(file, _CHUNK, offset)
        if not chunk:
            break
        here = chunk.count(b"\n")
        if passed + here >= first - 1:
            return offset + _after(chunk, first - 1 - passed), first - 1
        offset, passed = offset + len(chunk), passed + here
    return offset, passed


def _past_hole(file: int, offset: int) -> int:
    """Where data is next: a hole of a sparse file has no line feeds, and reading it takes long."""
    try:
        return os.lseek(file, offset, os.SEEK_DATA)
    except OSError as error:
        return max(offset, os.fstat(file).st_size) if error.errno == errno.ENXIO else offset


def _after(chunk: bytes, feeds: int) -> int:
    at = 0
    for _ in range(feeds):
        at = chunk.index(b"\n", at) + 1
    return at


def _take(file: int, start: int, count: int, max_bytes: int) -> bytes:
    data = bytearray()
    feeds = 0
    while feeds < count and len(data) < max_bytes:
        chunk = os.pread(file, min(_CHUNK, max_bytes - len(data)), start + len(data))
        if not chunk:
            break
        here = chunk.count(b"\n")
        data += chunk if feeds + here < count else chunk[: _after(chunk, count - feeds)]
        feeds += here
    return bytes(data)


def _total(file: int, end: int, feeds: int) -> int:
    last = os.pread(file, 1, end - 1) if end else b"\n"
    return feeds + (last != b"\n")
