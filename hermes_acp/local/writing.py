"""Changing files so that no reader ever sees half of one, and nothing but the content changes.

New bytes go to a temporary file of the same folder, which then takes the old one's name. Mode, owner and
extended attributes are carried over. A file with several hard links gets a new inode, so that its other
names (a package cache, a backup, something outside the workspace) keep what they had. Where the folder
forbids this, or the owner could not be kept, the file is overwritten in place; one with several hard links
is then refused.

The functions block and belong in a thread.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local import files
from hermes_acp.local.paths import encode
from hermes_acp.text import clean

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAMELESS = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC if hasattr(os, "O_TMPFILE") else 0
_CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_NEW_NAME = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}
_ATTRIBUTES_NOT_KEPT = {"security.capability", "security.ima", "security.evm"}


def write(path: Path, data: bytes, replacing: bytes | None) -> None:
    """Replace the content of the resolved `path` at once, or make the file when `replacing` is None.

    Raises:
        ToolError: the file does not hold exactly `replacing` (or exists, when that is None), is marked
            read-only, or cannot be written; its content is then what it was.
    """
    with files.explained(path), files.folder(path, create=replacing is None) as within:
        if replacing is None:
            _create(path, within, data)
        else:
            _replace(path, within, data, replacing)


def hard_links(path: Path) -> int:
    """How many names the regular file `path` has.

    Raises:
        ToolError: it is marked read-only, or cannot be reached without following a link.
    """
    with files.explained(path), files.folder(path) as within, files.opened(path, within) as file:
        status = os.fstat(file)
        _refuse_read_only(path, status)
        return status.st_nlink


def check_unmoved(path: Path, holding: bytes | None) -> None:
    """Check that a write to the resolved `path` by its name will change what was judged; makes missing folders.

    Raises:
        ToolError: the file does not hold exactly `holding` (or exists, when that is None), or a folder on the way
            is a link by now.
    """
    with files.explained(path), files.folder(path, create=holding is None) as within:
        if holding is not None:
            _require(path, within, holding)
        elif _is_there(encode(path.name), within):
            raise _made_meanwhile(path)


def _is_there(name: bytes, within: int) -> bool:
    try:
        os.stat(name, dir_fd=within, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _made_meanwhile(path: Path) -> ToolError:
    return ToolError(f"{clean(str(path))} exists already: it was made since this was asked for.")


def _create(path: Path, within: int, data: bytes) -> None:
    name = encode(path.name)
    with _staged(within, data, 0o666) as staged:
        try:
            os.link(staged.name(), name, src_dir_fd=within, dst_dir_fd=within, follow_symlinks=False)
        except FileExistsError:
            raise _made_meanwhile(path) from None
        except OSError:
            _create_plainly(name, within, data)


def _create_plainly(name: bytes, within: int, data: bytes) -> None:
    """For file systems without hard links, where a new name cannot be taken without replacing."""
    file = os.open(name, _NEW, 0o666, dir_fd=within)
    try:
        _fill(file, data)
    except OSError:
        os.unlink(name, dir_fd=within)
        raise
    finally:
        os.close(file)


def _replace(path: Path, within: int, data: bytes, replacing: bytes) -> None:
    with files.opened(path, within) as old:
        _refuse_read_only(path, os.fstat(old))
        try:
            with _staged(within, data, 0o600) as staged:
                _dress(staged.file, old)
                _require(path, within, replacing)
                os.rename(staged.name(), encode(path.name), src_dir_fd=within, dst_dir_fd=within)
        except OSError as error:
            if error.errno not in _NO_NEW_NAME:
                raise
            _overwrite(path, within, data, replacing)


def _refuse_read_only(path: Path, status: os.stat_result) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o222:
        raise ToolError(f"{clean(str(path))} is marked read-only (mode {mode:04o}); it was not changed.")


class _Staged:
    """A file with the new data, safely on disk, that has no name for as long as the system allows it: a program
    that is killed meanwhile leaves nothing in the folder."""

    def __init__(self, within: int, mode: int) -> None:
        self._within = within
        self._name = b".hermes-acp-%s.tmp" % secrets.token_hex(8).encode()
        self._named = False
        self.file = self._open(mode)

    def name(self) -> bytes:
        """Its name in the folder, which it is given now if it had none.

        Raises:
            OSError: EXDEV, where the system cannot do that after all.
        """
        if not self._named:
            try:
                os.link(f"/proc/self/fd/{self.file}", self._name, dst_dir_fd=self._within)
            except OSError as error:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV)) from error
            self._named = True
        return self._name

    def close(self) -> None:
        """Let it go; without a new name it is gone."""
        os.close(self.file)
        if self._named:
            with suppress(FileNotFoundError):
                os.unlink(self._name, dir_fd=self._within)

    def _open(self, mode: int) -> int:
        if _NAMELESS and os.path.isdir("/proc/self/fd"):
            with suppress(OSError):
                return os.open(".", _NAMELESS, mode, dir_fd=self._within)
        self._named = True
        return os.open(self._name, _NEW, mode, dir_fd=self._within)


@contextmanager
def _staged(within: int, data: bytes, mode: int) -> Iterator[_Staged]:
    staged = _Staged(within, mode)
    try:
        _fill(staged.file, data)
        yield staged
    finally:
        staged.close()


def _fill(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
    os.fsync(file)


def _dress(file: int, old: int) -> None:
    """Give the new file the owner, attributes and mode of the old one."""
    status, mine = os.fstat(old), os.fstat(file)
    if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid):
        os.fchown(file, status.st_uid, status.st_gid)
    for name in _attributes(old):
        with suppress(OSError):
            os.setxattr(file, name, os.getxattr(old, name))
    os.fchmod(file, stat.S_IMODE(status.st_mode))


def _attributes(file: int) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    with suppress(OSError):
        return [name for name in os.listxattr(file) if name not in _ATTRIBUTES_NOT_KEPT]
    return []


def _require(path: Path, within: int, replacing: bytes) -> None:
    with files.opened(path, within) as now:
        _compare(path, now, replacing)


def _compare(path: Path, file: int, replacing: bytes) -> None:
    if os.fstat(file).st_size != len(replacing) or files.read_all(file, path) != replacing:
        raise changed(path)


def changed(path: Path) -> ToolError:
    """The refusal of an edit that was made for another content."""
    return ToolError(f"{clean(str(path))} was changed on disk since it was read; read it again, then edit.")


def _overwrite(path: Path, within: int, data: bytes, replacing: bytes) -> None:
    file = os.open(encode(path.name), _CHANGE, dir_fd=within)
    try:
        status = os.fstat(file)
        files.check_regular(status, path)
        if status.st_nlink > 1:
            raise ToolError(f"{clean(str(path))} has other hard links and its folder allows no new files.")
        _compare(path, file, replacing)
        _refill(file, data, replacing)
    finally:
        os.close(file)


def _refill(file: int, data: bytes, replacing: bytes) -> None:
    try:
        _reserve(file, len(data))
        _pour(file, data)
    except OSError:
        with suppress(OSError):
            _pour(file, replacing)
        raise


def _reserve(file: int, size: int) -> None:
    """Take the space first: a full disk must not cost the old content."""
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)


def _pour(file: int, data: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.ftruncate(file, len(data))
    _fill(file, data)
