"""The local machine as a workspace: files on its disks, commands in its shell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_acp.errors import Unfinished
from hermes_acp.local import files, paths, removing, writing
from hermes_acp.local.dressing import Dressing
from hermes_acp.local.one_writer import OneWriter
from hermes_acp.local.processes import Shell
from hermes_acp.local.sandbox.walls import Sandbox
from hermes_acp.local.seen import Seen
from hermes_acp.local.waiting import surely, surely_told
from hermes_acp.text import clean
from hermes_acp.workspace import Background, Command, Completed, Enclosure, Lines, Show


class LocalWorkspace:
    """Files and commands of one session on this machine (see `hermes_acp.workspace.Workspace`).

    Commands run in `sandbox`, or, where it is None, in none: `why_not` says why, to whoever is asked. Whoever makes a
    workspace awaits `aclose` when the session ends: it ends the background processes.
    """

    def __init__(
        self, cwd: Path, roots: tuple[Path, ...] = (), sandbox: Sandbox | None = None, why_not: str = ""
    ) -> None:
        self._roots = _real(cwd, *roots)
        self._seen = Seen()
        self._one_writer = OneWriter()
        self._enclosure = sandbox.enclosure if sandbox else Enclosure(reason=why_not)
        self._shell = Shell(Dressing(sandbox, lambda: self._roots))

    @property
    def cwd(self) -> Path:
        return self._roots[0]

    @property
    def roots(self) -> tuple[Path, ...]:
        return self._roots

    def set_further_roots(self, folders: tuple[Path, ...]) -> None:
        self._roots = _real(self.cwd, *folders)

    def resolve(self, path: str) -> Path:
        return paths.resolve(path, self.cwd)

    async def exists(self, path: Path) -> bool:
        return await asyncio.to_thread(files.exists, path)

    async def read(self, path: Path) -> bytes:
        return await asyncio.to_thread(files.read, path)

    async def read_lines(self, path: Path, first: int, count: int, max_bytes: int) -> Lines:
        """See the protocol. What is read here counts as seen by the model."""
        stopped = threading.Event()
        try:
            digest, lines = await asyncio.to_thread(_lines_and_digest, path, first, count, max_bytes, stopped.is_set)
        finally:
            stopped.set()
        self._note(path, digest)
        return lines

    async def write(self, path: Path, data: bytes, *, replacing: bytes | None) -> bytes:
        async with self._one_writer.of(path):
            return await self._write(path, data, replacing)

    async def _write(self, path: Path, data: bytes, replacing: bytes | None) -> bytes:
        if replacing is not None and not self._seen.agrees(path, files.digest_of(replacing)):
            raise writing.changed(path)
        told = f"Cancelled by the user, but {clean(str(path))} had been written by then."
        try:
            await surely_told(asyncio.to_thread(writing.write, path, data, replacing), told)
        except Unfinished:
            self._note(path, files.digest_of(data))
            raise
        self._note(path, files.digest_of(data))
        return data

    async def accept(self, path: Path) -> bytes | None:
        data = await self.read(path) if await self.exists(path) else None
        self._note(path, None if data is None else files.digest_of(data))
        return data

    async def remove(self, path: Path, *, holding: bytes) -> None:
        async with self._one_writer.of(path):
            await surely(asyncio.to_thread(removing.remove, path, holding))
            self._note(path, None)

    @property
    def enclosure(self) -> Enclosure:
        return self._enclosure

    async def run(self, command: Command, on_output: Show) -> Completed:
        try:
            return await self._shell.run(command, on_output)
        finally:
            self._seen.command_ran()

    async def start(self, command: Command) -> str:
        self._seen.command_ran()
        return await self._shell.start(command)

    @property
    def background(self) -> Mapping[str, Background]:
        return self._shell.background

    def runs_in_background(self) -> bool:
        """Whether a command of ours may change a file at any moment."""
        return self._shell.runs_in_background()

    def saw(self, path: Path, data: bytes) -> None:
        """The file holds this now, by an edit of ours that went another way."""
        self._note(path, files.digest_of(data))

    def command_ran(self) -> None:
        """A command of ours ran elsewhere, and may have changed any file."""
        self._seen.command_ran()

    async def aclose(self) -> None:
        """End every process that commands of this session have left running."""
        await self._shell.aclose()

    def _note(self, path: Path, digest: bytes | None) -> None:
        self._seen.note(path, digest)
        if self.runs_in_background():
            self._seen.command_ran()


def _real(*folders: Path) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(paths.real(folder) for folder in folders))


def _lines_and_digest(
    path: Path, first: int, count: int, max_bytes: int, stopped: Callable[[], bool]
) -> tuple[bytes | None, Lines]:
    digest = files.digest(path)
    return digest, files.read_lines(path, first, count, max_bytes, stopped)
