"""What a command is given of this process: a shell, and the environment without anybody's keys."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

from hermes_acp.errors import ToolError
from hermes_acp.local.guardian import GUARDIAN
from hermes_acp.text import clean

RUN = b"HERMES_ACP_RUN"
"""The variable by which the processes of a command are found again, wherever they have gone."""

SECRET_NAMES = re.compile(
    rb"(?:.*_)?(?:(?:API|SECRET|ACCESS|PRIVATE)_?KEYS?(?:_.*)?|KEYS?|TOKEN|SECRETS?|PAT|PASSPHRASE|AUTH_CONFIG)$"
    rb"|.*(?:PASSWORD|PASSWD|_PWD)$",
    re.IGNORECASE,
)
"""Variables that commands do not inherit: the agent's keys, and those of whatever service."""

_HARMLESS_NAMES = re.compile(
    rb"PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TZDIR|TERM|COLORTERM|COLUMNS|LINES"
    rb"|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|EDITOR|PAGER|XDG_(?:CACHE|CONFIG|DATA|STATE)_HOME|XDG_DATA_DIRS"
    rb"|VIRTUAL_ENV|CONDA_[A-Z_]*PREFIX|CONDA_DEFAULT_ENV|PYTHON[A-Z]*|PYENV_[A-Z_]+|UV_[A-Z_]+|PYTEST_[A-Z_]+"
    rb"|NODE_(?:PATH|OPTIONS|ENV|VERSION)|NVM_[A-Z_]+|FNM_[A-Z_]+|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|DENO_DIR"
    rb"|GO[A-Z]+|CGO_[A-Z]+|CARGO_(?:HOME|TARGET_DIR|INCREMENTAL)|RUST[A-Z_]+|JAVA_HOME|JDK_HOME|M2_HOME|GRADLE_HOME"
    rb"|GEM_(?:HOME|PATH)|RBENV_[A-Z_]+|DOTNET_[A-Z_]+|ANDROID_(?:HOME|SDK_ROOT)|SDKROOT|DEVELOPER_DIR"
    rb"|CC|CXX|CPP|LD|AR|[A-Z]+FLAGS|PKG_CONFIG[A-Z_]*|LD_LIBRARY_PATH|LIBRARY_PATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH"
    rb"|CPATH|CMAKE_[A-Z_]+|MANPATH|INFOPATH|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|NIX_[A-Z_]+"
    rb"|LOCALE_ARCHIVE|SOURCE_DATE_EPOCH|DEBUG|DEBIAN_FRONTEND"
)
"""Variables that commands inherit in the sandbox: what programs and compilers are found and set up by. None that names
a socket, an agent or a proxy."""

_IN_TMP = {b"GOCACHE": b"/tmp/.cache/go-build", b"npm_config_cache": b"/tmp/.cache/npm"}
"""Caches that programs cannot do without, where they can be written."""

_WITHHELD: set[bytes] = set()

_PR_SET_DUMPABLE = 4
"""See prctl(2)."""

_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
_SHELL_FOLDERS = (b"/bin", b"/usr/bin", b"/usr/local/bin")


def for_command(tag: str) -> dict[bytes, bytes]:
    """The environment of a command whose processes carry `tag` and this process's; the tags we carry ourselves
    stay in it."""
    kept = {name: value for name, value in os.environb.items() if not is_secret(name)}
    kept[RUN] = b" ".join(filter(None, (os.environb.get(RUN, b""), GUARDIAN.tag.encode(), tag.encode())))
    kept.setdefault(b"PATH", _DEFAULT_PATH)
    return kept


def for_sandbox(tag: str, keep: Sequence[str] = ()) -> dict[bytes, bytes]:
    """The environment of a command in the sandbox: names that are known to be harmless, and those of `keep`."""
    kept = {
        name: value
        for name, value in for_command(tag).items()
        if name == RUN or _HARMLESS_NAMES.fullmatch(name) or name in {each.encode() for each in keep}
    }
    return {**_IN_TMP, **kept, b"TMPDIR": b"/tmp"}


def search_path() -> str:
    """Where a command looks for programs: its PATH."""
    return os.fsdecode(os.environb.get(b"PATH", _DEFAULT_PATH))


def startup_file() -> str:
    """What a shell of a command reads before it (BASH_ENV), "" when nothing."""
    return os.fsdecode(os.environb.get(b"BASH_ENV", b""))


def shell(line: str) -> tuple[bytes, ...]:
    """The program and arguments that run a shell command line, found whatever PATH is.

    Raises:
        ToolError: there is no shell on this machine.
    """
    for name in (b"bash", b"sh"):
        for folder in (*_SHELL_FOLDERS, *_absolute_path_folders()):
            program = os.path.join(folder, name)
            if os.access(program, os.X_OK):
                return program, b"-c", clean(line).encode()
    raise ToolError("No shell (bash or sh) was found on this machine, so no command can run.")


def withhold(name: str) -> None:
    """Keep this variable too from commands, and let `mask_own` overwrite it; "" is none."""
    if name:
        _WITHHELD.add(name.encode("utf-8", "replace"))


def mask_own() -> None:
    """Overwrite our keys where the system shows them to others (Linux: `/proc/PID/environ`).

    A command could read them there, although it does not inherit them. This process keeps its own copy in
    `os.environ`.
    """
    with suppress(OSError, ValueError, IndexError):
        start, end = _environment_range()
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            for at, size in _secret_values(memory.read(end - start)):
                memory.seek(start + at)
                memory.write(b"x" * size)


def be_private() -> None:
    """Let no other program of the same user read this process's memory, or a core of it (Linux).

    Once it holds, `mask_own` needs root; what it covers cannot be read by others any more either.
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def is_secret(name: bytes) -> bool:
    """Whether a variable is kept from commands, by its name."""
    return name in _WITHHELD or SECRET_NAMES.match(name) is not None


def _absolute_path_folders() -> list[bytes]:
    return [folder for folder in os.environb.get(b"PATH", b"").split(b":") if folder.startswith(b"/")]


def _environment_range() -> tuple[int, int]:
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return int(fields[47]), int(fields[48])


def _secret_values(block: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    for entry in block.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if is_secret(name):
            yield at + len(name) + 1, len(value)
        at += len(entry) + 1
