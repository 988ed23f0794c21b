"""What a sandboxed command may use up: no core files, 8192 processes of the user, files of 32 GiB."""

from __future__ import annotations

import os
import resource
import shutil
from functools import cache

from hermes_acp.local import environment

PROGRAM = "prlimit"

_LIMITS = (
    ("core", resource.RLIMIT_CORE, 0),
    ("nproc", resource.RLIMIT_NPROC, 8192),
    ("fsize", resource.RLIMIT_FSIZE, 1 << 35),
)
_BY_SHELL = 'ulimit -c 0; ulimit -u 8192 2>/dev/null; ulimit -f 33554432 2>/dev/null; exec "$@"'
"""The same in units of a shell (1024 bytes), where the program for it is missing; it takes a millisecond longer."""


def wrapper() -> tuple[bytes, ...]:
    """The words in front of a command that set its limits.

    Raises:
        ToolError: there is no shell on this machine.
    """
    program = _prlimit()
    if program is None:
        return (*environment.shell(_BY_SHELL), b"sandbox")
    given = [f"--{name}={_possible(limit, wanted)}".encode() for name, limit, wanted in _LIMITS]
    return (program, *given, b"--")


@cache
def _prlimit() -> bytes | None:
    found = shutil.which(PROGRAM, path="/usr/bin:/bin:/usr/local/bin")
    return os.fsencode(found) if found else None


def _possible(limit: int, wanted: int) -> int:
    """The limit that is wanted, or the lower one that holds already and that nobody but root may raise."""
    hard = resource.getrlimit(limit)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
