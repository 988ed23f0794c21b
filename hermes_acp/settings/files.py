"""Small files of the person's, read with care."""

from __future__ import annotations

import os
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
        raise ConfigError(f"{path}: not valid TOML: {_in_words(error)}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not valid TOML: it must be UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None


def _in_words(error: Exception) -> str:
    """What is wrong, and what it most often comes from; what stands in the file is not repeated: it may be a key."""
    reason = " ".join(str(error).split())
    if reason.startswith("Invalid value"):
        return f"{reason}; a text stands in quotation marks"
    return f"{reason}; a key or table stands in it twice" if reason.startswith("Cannot ") else reason


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
