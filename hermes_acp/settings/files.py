"""Small files of the person's: read with care, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tomllib
from pathlib import Path
from typing import Any

from hermes_acp.errors import ConfigError

MAX_BYTES = 1024 * 1024
"""No file of settings is larger than this."""


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; none when there is no file.

    Raises:
        ConfigError: it cannot be read, or is not TOML: one line naming file and reason.
    """
    try:
        return tomllib.loads(read_small(path).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {' '.join(str(error).split())}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not valid TOML: it must be UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None


def read_small(path: Path) -> bytes:
    """The bytes of a regular file of a reasonable size.

    Raises:
        OSError: there is none, or it is something else; never waits, whatever is there.
    """
    data, _ = read_with_mode(path)
    return data


def read_with_mode(path: Path) -> tuple[bytes, int]:
    """As `read_small`, with the permission bits of the very file that was read."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(0, "not a regular file")
        if state.st_size > MAX_BYTES:
            raise OSError(0, "larger than 1 MiB")
        return file.read(MAX_BYTES), stat.S_IMODE(state.st_mode)


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
