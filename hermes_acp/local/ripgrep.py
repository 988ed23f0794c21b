"""Running ripgrep: the one that came with this package, else one on PATH."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import child, environment
from hermes_acp.local.child import Child
from hermes_acp.text import clean, shorten

_ALWAYS = (b"--no-config", b"--no-messages", b"--no-require-git", b"--color=never", b"--sort=path")
_PROBLEM_BYTES = 4_000
_RECORD_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """What ripgrep wrote, cut into records, and why it did not write more ("" when that was all)."""

    records: tuple[bytes, ...]
    cut: Literal["", "limit", "time"] = ""


def program() -> bytes:
    """The path of ripgrep.

    Raises:
        ToolError: there is none.
    """
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for candidate in (*(os.path.join(folder, "rg") for folder in folders if folder), shutil.which("rg")):
        if candidate and os.access(candidate, os.X_OK):
            return os.path.abspath(os.fsencode(candidate))
    raise ToolError("ripgrep (rg) is not installed, so files cannot be searched or listed. Install ripgrep.")


async def run(arguments: Sequence[bytes], *, cwd: Path, separator: bytes, limit: int, seconds: float) -> Found:
    """The first `limit` records of ripgrep's output, each ended by `separator`, sorted by path.

    It honours ignore files, reads no configuration, and is killed at the limit, after `seconds`, and when
    this is cancelled.

    Raises:
        ToolError: ripgrep refuses its arguments (its own message), or cannot be started.
    """
    reading = _Reading(separator, limit)
    argv = (program(), *_ALWAYS, *arguments)
    started = await child.start(
        argv,
        cwd=cwd,
        environment=environment.for_command(""),
        on_data=reading.take,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        in_time = await _ended(started, reading, seconds)
    finally:
        await started.end()
    if reading.problem and not reading.records:
        raise ToolError(shorten(clean(reading.problem.decode("utf-8", "replace")).strip(), 1_000))
    return Found(tuple(reading.records[:limit]), reading.cut if in_time else "time")


async def _ended(started: Child, reading: _Reading, seconds: float) -> bool:
    closed = asyncio.ensure_future(started.closed.wait())
    full = asyncio.ensure_future(reading.full.wait())
    try:
        done, _ = await asyncio.wait([closed, full], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        closed.cancel()
        full.cancel()
    return bool(done)


@dataclass(slots=True)
class _Reading:
    separator: bytes
    limit: int
    records: list[bytes] = field(default_factory=list)
    problem: bytes = b""
    full: asyncio.Event = field(default_factory=asyncio.Event)
    _rest: bytes = b""

    @property
    def cut(self) -> Literal["", "limit"]:
        return "limit" if self.full.is_set() else ""

    def take(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.problem = (self.problem + data)[:_PROBLEM_BYTES]
        elif not self.full.is_set():
            self._split(data)

    def _split(self, data: bytes) -> None:
        *whole, rest = (self._rest + data).split(self.separator)
        self._rest = rest[:_RECORD_BYTES]
        self.records += whole
        if len(self.records) > self.limit:
            self.full.set()
