"""Small files of the person's, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def write_private(path: Path, data: bytes) -> None:
    """Replace or make a file that only its owner may read, at once and durably.

    Raises:
        OSError: it could not be written; what was there before is unchanged.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(path, data, 0o600)


def write_like_before(path: Path, data: bytes) -> None:
    """As `write_private`, keeping a file's own permissions, and the link when it is one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    real = path.resolve()
    mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o600
    _replace(real, data, mode)


def _replace(path: Path, data: bytes, mode: int) -> None:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
