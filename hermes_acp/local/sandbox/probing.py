"""Finds out, by running it, whether bubblewrap can wall commands in on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

from hermes_acp.lazy_dataclasses import dataclass

PROGRAM = "bwrap"

_SECONDS = 5
_NAMESPACES = (
    b"--unshare-user",
    b"--unshare-pid",
    b"--unshare-ipc",
    b"--unshare-uts",
    b"--unshare-cgroup-try",
    b"--die-with-parent",
    b"--cap-drop",
    b"ALL",
)
_NO_FURTHER_ONES = b"--disable-userns"
"""What runs inside can make no user namespace of its own, in which it would be root. Not known before 0.8."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap that works here, and the options of every call."""

    program: bytes
    options: tuple[bytes, ...]


@cache
def find() -> Bubblewrap | str:
    """The bubblewrap of this machine, or why there is none that works. Runs it once; takes about 20 ms."""
    if sys.platform != "linux":
        return "there is one for Linux only"
    program = shutil.which(PROGRAM, path=f"/usr/bin:/usr/local/bin:/bin:{os.defpath}")
    if program is None:
        return "bubblewrap (bwrap) is not installed"
    problem = ""
    for options in ((*_NAMESPACES, _NO_FURTHER_ONES), _NAMESPACES):
        problem = _problem(program, options)
        if not problem:
            return Bubblewrap(os.fsencode(program), options)
    return f"bubblewrap does not work here: {problem}"


def _problem(program: str, options: tuple[bytes, ...]) -> str:
    """Why a whole call of the kind that commands get fails, "" when it does not."""
    walls = ("--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")
    argv = [os.fsencode(program), *options, *map(str.encode, walls), b"--", b"/bin/sh", b"-c", b"echo inside"]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, env={"PATH": os.defpath}, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it has not answered for {_SECONDS} seconds"
    except OSError as error:
        return error.strerror or "it does not start"
    if done.returncode == 0 and done.stdout == b"inside\n":
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1].removeprefix("bwrap: ") if said else f"exit code {done.returncode}"
