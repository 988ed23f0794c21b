"""Processes of the whole machine, found by a mark in their environment."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

TAG = "PYTEST_EDITOR_TAG"
"""The environment variable that marks everything one test has started."""


def processes_tagged(tag: str) -> list[int]:
    """The ids of all living processes that carry the tag, zombies left out."""
    mark = f"{TAG}={tag}".encode()
    folders = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(folder.name) for folder in folders if mark in _environment(folder)]


def _environment(folder: Path) -> list[bytes]:
    """Empty for processes that have ended, and for those of other users."""
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def guardians_of(agent: int) -> list[int]:
    """The processes outside that wait at the other end of one of the agent's pipes."""
    pipes = _pipes_of(agent)
    others = (int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (agent, os.getpid()))
    return [pid for pid in others if _stdin_of(pid) in pipes]


def lives(pid: int) -> bool:
    """Whether the process has not ended; whether somebody has taken note of its end does not matter."""
    return _fields(pid)[:1] not in ([], ["Z"], ["X"])


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used so far; 0 when it is gone."""
    fields = _fields(pid)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something came to hold within so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def comes_to_hold(holds: Callable[[], bool], seconds: float = 2.0) -> bool:
    """Whether something came to hold within so many seconds, while the loop went on."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _fields(pid: int) -> list[str]:
    """What the system says of a process, from its state on."""
    try:
        return Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _pipes_of(pid: int) -> set[str]:
    try:
        links = [os.readlink(entry) for entry in Path("/proc", str(pid), "fd").iterdir()]
    except OSError:
        return set()
    return {link for link in links if link.startswith("pipe:")}


def _stdin_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""
