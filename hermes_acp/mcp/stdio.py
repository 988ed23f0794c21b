"""The program of an MCP server: started like a command, talked to in lines, gone with all that it started."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local import child, environment, survivors
from hermes_acp.local.child import Child
from hermes_acp.local.output import Excerpt, PlainDecoder
from hermes_acp.local.waiting import surely, within
from hermes_acp.mcp.hiding import without_secrets
from hermes_acp.mcp_servers import ProgramServer
from hermes_acp.text import clean, shorten

log = logging.getLogger(__name__)

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of one message of a server."""

_PATIENCE = 0.4
"""Seconds that a server has to end by itself once its stdin is closed."""

_GRACE = 0.25
"""Seconds in which the last lines of a program that has ended are read."""

_STDERR = 4_000
_TOLD = 500
_LOGGED = 64_000


class Program:
    """The running program of a server: `lines` are what it says, `fault` why they are read no more ("" while they
    are)."""

    def __init__(self, server: ProgramServer) -> None:
        self.fault = ""
        self.lines = asyncio.StreamReader(limit=LONGEST_LINE)
        self._server = server
        self._decoder = PlainDecoder()
        self._begun = ""
        self._said = Excerpt(head=0, tail=_STDERR)
        self._to_log = _LOGGED
        self._child: Child | None = None

    async def start(self, cwd: Path, tag: str) -> None:
        """Start it.

        Raises:
            ToolError: it cannot be started.
        """
        inherited = _environment(self._server, tag)
        started = asyncio.ensure_future(
            child.start(
                (_found(self._server.command, inherited), *map(_bytes, self._server.args)),
                cwd=cwd,
                environment=inherited,
                on_data=self._take,
                stderr=asyncio.subprocess.PIPE,
                stdin=asyncio.subprocess.PIPE,
            )
        )
        try:
            self._child = await surely(started)
        except asyncio.CancelledError:
            if not started.cancelled() and started.exception() is None:
                self._child = started.result()
            raise
        reading = self._child.pipe(1)
        if isinstance(reading, asyncio.ReadTransport):
            self.lines.set_transport(reading)

    def write(self, line: bytes) -> None:
        """Send it a message; what a program that has ended is sent is lost."""
        writing = self._child.pipe(0) if self._child else None
        if isinstance(writing, asyncio.WriteTransport) and not writing.is_closing():
            writing.write(line + b"\n")

    async def ended(self) -> None:
        """Wait until it has ended, and let the last lines be read; then `lines` end."""
        if self._child is not None:
            await self._child.exited.wait()
            await within(_GRACE, self._child.closed.wait())
        self.lines.feed_eof()

    async def end(self, tag: str) -> None:
        """End it with everything it has started: first by closing its stdin, then by signals."""
        started = self._child
        if started is None:
            return
        if writing := started.pipe(0):
            writing.close()
        if await within(_PATIENCE, started.exited.wait()):
            groups = await asyncio.to_thread(survivors.left_behind, {started.pid})
        else:
            groups = {started.pid}
        await asyncio.to_thread(survivors.dismiss, tag, *groups)
        await started.end()

    def how_it_ended(self) -> str:
        """Its exit code and the last it wrote to stderr, in words and without secrets."""
        ended = self._child is not None and self._child.exited.is_set()
        code = f"It ended with exit code {self._child.exit_code}." if ended and self._child else ""
        said = self._said.text() + without_secrets(self._begun, self._server)
        lines = [line.strip() for line in said.splitlines() if line.strip()][-5:]
        last = " | ".join(lines)
        return " ".join(filter(None, (self.fault, code, last if len(last) <= _TOLD else "…" + last[-_TOLD:])))

    def _take(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.lines.feed_data(data)
            return
        whole, newline, self._begun = (self._begun + self._decoder.feed(data)).rpartition("\n")
        if len(self._begun) > _STDERR:
            whole, newline, self._begun = whole + newline + self._begun, "\n", ""
        text = without_secrets(whole + newline, self._server)
        self._said.feed(text)
        if text and self._to_log > 0:
            self._to_log -= len(text)
            log.info("MCP server %s: %s", self._server.name, text.rstrip())


def check(server: ProgramServer) -> None:
    """See, before anything is loaded for it, that there is such a program.

    Raises:
        ToolError: there is none.
    """
    _found(server.command, _environment(server, ""))


@asynccontextmanager
async def running(server: ProgramServer, cwd: Path, on_end: Callable[[], None]) -> AsyncIterator[Program]:
    """The program for as long as the block lasts.

    Args:
        server: what to start.
        cwd: the folder it runs in.
        on_end: called when it ends by itself.

    Raises:
        ToolError: it cannot be started.
    """
    tag = secrets.token_hex(12)
    program = Program(server)
    watching: asyncio.Task[None] | None = None
    try:
        await program.start(cwd, tag)
        watching = asyncio.ensure_future(program.ended())
        watching.add_done_callback(lambda task: None if task.cancelled() else on_end())
        yield program
    finally:
        if watching is not None:
            watching.cancel()
        await surely(program.end(tag))


def _environment(server: ProgramServer, tag: str) -> dict[bytes, bytes]:
    named = {_bytes(name): os.environb[_bytes(name)] for name in server.inherit if _bytes(name) in os.environb}
    return environment.for_command(tag) | named | {_bytes(name): _bytes(value) for name, value in server.env}


def _found(command: str, environ: dict[bytes, bytes]) -> bytes:
    """The program's absolute path.

    Raises:
        ToolError: there is none, or the command is neither a path nor a name.
    """
    shown = shorten(clean(command), 200)
    if not command.strip():
        raise ToolError("No command is given.")
    if "/" in command and not os.path.isabs(command):
        raise ToolError(f"The command {shown!r} must be an absolute path, or the name of a program on PATH.")
    folders = environ.get(b"PATH", b"").split(b":")
    path = b":".join(folder for folder in folders if folder.startswith(b"/"))
    found = shutil.which(os.fsdecode(_bytes(command)), path=os.fsdecode(path)) if "\0" not in command else None
    if found is None:
        where = "" if os.path.isabs(command) else " on PATH"
        raise ToolError(f"The command {shown!r} was not found{where}, or is no program.")
    return os.fsencode(found)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
