"""A key that a program of the person's writes: a password manager, a helper that renews tokens."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from hermes_acp.errors import HermesError, ToolError
from hermes_acp.local import child, survivors
from hermes_acp.local.child import Child
from hermes_acp.local.environment import RUN
from hermes_acp.local.waiting import surely, within

SECONDS = 30.0
"""How long the program may take."""

MAX_KEY = 16_384
"""Bytes of a first line that are still taken for a key."""


class _FirstLine:
    """The first line of what a program writes; the rest is let go."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._whole = False

    def take(self, fd: int, data: bytes) -> None:
        if fd == 1 and not self._whole:
            self._data += data[: MAX_KEY + 1]
            self._whole = b"\n" in data or len(self._data) > MAX_KEY

    def text(self) -> str:
        """The key in it; "" when it cannot be one."""
        line = bytes(self._data).partition(b"\n")[0].decode("utf-8", "replace").strip()
        return line if len(line) <= MAX_KEY and line.isascii() and line.isprintable() else ""


async def key_of_command(command: Sequence[str], seconds: float = SECONDS) -> str:
    """The first line that a program writes. No shell reads the command, and what the program says on its standard
    error is shown to nobody. A program that is not over in time is ended, with all that it started; what one
    leaves behind that ended by itself stays, since it may be the agent of a password manager.

    Raises:
        HermesError: it gives no key.
    """
    tag, line = secrets.token_hex(12), _FirstLine()
    started = await _start(command, tag, line)
    try:
        in_time = await within(seconds, started.exited.wait())
        await within(1.0 if in_time else 0.0, started.closed.wait())
    finally:
        await surely(_end(started, tag))
    name = os.path.basename(command[0])
    if not in_time:
        raise HermesError(f"credentials.command: {name} has given no key in {seconds:g} seconds.")
    if started.exit_code != 0:
        raise HermesError(f"credentials.command: {name} ended with the status {started.exit_code}.")
    if not line.text():
        raise HermesError(f"credentials.command: the first line that {name} writes is no key.")
    return line.text()


async def _start(command: Sequence[str], tag: str, line: _FirstLine) -> Child:
    starting = asyncio.ensure_future(_started(command, tag, line))
    try:
        return await surely(starting)
    except asyncio.CancelledError:
        if starting.exception() is None:
            await surely(_end(starting.result(), tag))
        raise


async def _started(command: Sequence[str], tag: str, line: _FirstLine) -> Child:
    try:
        return await child.start(
            [_program(command[0]), *map(os.fsencode, command[1:])],
            cwd=Path("/"),
            environment={**os.environb, RUN: b" ".join((os.environb.get(RUN, b""), tag.encode())).strip()},
            on_data=line.take,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except ToolError as error:
        raise HermesError(f"credentials.command: {error}") from None


def _program(name: str) -> bytes:
    found = shutil.which(os.path.expanduser(name))
    if found is None:
        raise HermesError(f"credentials.command: there is no program {name!r}.")
    return os.fsencode(os.path.abspath(found))


async def _end(started: Child, tag: str) -> None:
    """End the program and all that it started, if it has not ended by itself."""
    if not started.exited.is_set():
        survivors.signal_group(started.pid, signal.SIGKILL)
        await asyncio.to_thread(survivors.end, tag, started.pid)
    await started.end()
