"""A child process whose output arrives in pieces, and whose end is not the end of its pipes."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from hermes_acp.errors import ToolError
from hermes_acp.local.guardian import GUARDIAN
from hermes_acp.local.paths import encode
from hermes_acp.local.waiting import surely, within
from hermes_acp.text import clean


class Child(asyncio.SubprocessProtocol):
    """A process in a session of its own.

    `exited` is set when the process itself has ended; `closed` when nobody holds its output any more, which
    a process it left behind may delay for ever. `on_data` gets the descriptor (1 or 2) and the bytes.
    """

    def __init__(self, on_data: Callable[[int, bytes], None]) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._ended: float | None = None
        self._on_data = on_data
        self._open = {1, 2}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._began = time.monotonic()
        self._transport = cast(asyncio.SubprocessTransport, transport)
        GUARDIAN.began(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._on_data(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not any(self._transport.get_pipe_transport(fd) for fd in self._open):
            self.closed.set()

    def process_exited(self) -> None:
        GUARDIAN.ended(self.pid)
        self._ended = time.monotonic()
        self.exited.set()

    @property
    def pid(self) -> int:
        return self._transport.get_pid()

    def pipe(self, fd: int) -> asyncio.BaseTransport | None:
        """Our end of the pipe on a descriptor of the process, if there is one."""
        return self._transport.get_pipe_transport(fd)

    @property
    def exit_code(self) -> int:
        """The exit code, negative for a signal; -9 while it is not known."""
        code = self._transport.get_returncode()
        return -9 if code is None else code

    @property
    def seconds(self) -> float:
        """For how long it has run, or had when it ended."""
        return (time.monotonic() if self._ended is None else self._ended) - self._began

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        self._transport.close()

    async def end(self) -> None:
        """Kill the process, if it has not ended, and let go of its pipes."""
        if not self.exited.is_set():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)
        try:
            await surely(within(1.0, self.exited.wait()))
        finally:
            self._transport.close()


async def start(
    argv: Sequence[bytes],
    *,
    cwd: Path,
    environment: Mapping[bytes, bytes],
    on_data: Callable[[int, bytes], None],
    stderr: int = asyncio.subprocess.STDOUT,
    stdin: int = asyncio.subprocess.DEVNULL,
) -> Child:
    """Start a program, found by its absolute path.

    Raises:
        ToolError: it cannot be started: the folder is gone, the arguments are too long.
    """
    GUARDIAN.watch()
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(on_data),
            *argv,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            cwd=encode(cwd),
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ToolError(_reason(error, cwd)) from error
    return child


def _reason(error: OSError | ValueError, cwd: Path) -> str:
    if isinstance(error, ValueError):
        return f"The program cannot be started: {error}."
    if error.errno == errno.E2BIG:
        return "The command is too long for the system. Write it to a file first and run that."
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
        return f"The program cannot be started in {clean(str(cwd))}: {error.strerror}."
    return f"The program cannot be started: {error.strerror}."
