"""A workspace that keeps what each file held before the agent changed it, so that a turn can be undone."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from hermes_acp.agent.store.changes import FileAfter, FileBefore
from hermes_acp.agent.store.contents import digest_of
from hermes_acp.errors import StoreError, ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import files
from hermes_acp.local.one_writer import OneWriter
from hermes_acp.local.paths import encode
from hermes_acp.text import clean
from hermes_acp.workspace import Background, Command, Completed, Enclosure, Lines, Show, Workspace


class Keeping(Protocol):
    """Where it is noted: the session's journal."""

    @property
    def turn(self) -> int: ...

    def keep(self, before: FileBefore) -> None: ...

    def correct(self, after: FileAfter) -> None: ...

    def ran(self, line: str) -> None: ...

    async def commit(self, durable: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """What stands at a path: its bytes and permission bits, and the topmost folder that is missing on the way."""

    data: bytes | None
    mode: int | None
    missing_folder: Path | None


class KeptWorkspace:
    """Files and commands of `inner`; what a write replaces is stored before it takes effect.

    Subagents work in the workspace of their session, so their changes are among those of its turn.
    """

    def __init__(self, inner: Workspace, keeping: Keeping) -> None:
        self.inner = inner
        self._keeping = keeping
        self._one_writer = OneWriter()
        self._turn = 0
        # What each file held after its last change in this turn.
        self._left: dict[Path, bytes | None] = {}

    @property
    def cwd(self) -> Path:
        return self.inner.cwd

    @property
    def roots(self) -> tuple[Path, ...]:
        return self.inner.roots

    @property
    def enclosure(self) -> Enclosure:
        return self.inner.enclosure

    def set_further_roots(self, folders: tuple[Path, ...]) -> None:
        self.inner.set_further_roots(folders)

    def resolve(self, path: str) -> Path:
        return self.inner.resolve(path)

    async def exists(self, path: Path) -> bool:
        return await self.inner.exists(path)

    async def read(self, path: Path) -> bytes:
        return await self.inner.read(path)

    async def read_lines(self, path: Path, first: int, count: int, max_bytes: int) -> Lines:
        return await self.inner.read_lines(path, first, count, max_bytes)

    async def write(self, path: Path, data: bytes, *, replacing: bytes | None) -> bytes:
        """See the protocol. Refused when what the file holds cannot be kept."""
        async with self._one_writer.of(path):
            return await self._write(path, data, replacing)

    async def accept(self, path: Path) -> bytes | None:
        return await self.inner.accept(path)

    async def remove(self, path: Path, *, holding: bytes) -> None:
        await self.inner.remove(path, holding=holding)

    async def run(self, command: Command, on_output: Show) -> Completed:
        self._note_command(command)
        return await self.inner.run(command, on_output)

    async def start(self, command: Command) -> str:
        self._note_command(command)
        return await self.inner.start(command)

    @property
    def background(self) -> Mapping[str, Background]:
        return self.inner.background

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def _write(self, path: Path, data: bytes, replacing: bytes | None) -> bytes:
        self._follow_turn()
        held, before = digest_of(replacing), await asyncio.to_thread(_look, path)
        left = self._left.get(path, held)
        await self._keep(FileBefore(path, replacing, before.data, before.mode, before.missing_folder, data))
        try:
            now = await self.inner.write(path, data, replacing=replacing)
        except ToolError:
            if await asyncio.to_thread(_still_holds, path, before.data):
                self._keeping.correct(FileAfter(path, left))
            raise
        self._left[path] = digest_of(now)
        if now != data or left != held:
            self._keeping.correct(FileAfter(path, digest_of(now), mixed=left != held))
        return now

    async def _keep(self, before: FileBefore) -> None:
        self._keeping.keep(before)
        try:
            await self._keeping.commit(durable=True)
        except StoreError as error:
            self._keeping.correct(FileAfter(before.path, self._left.get(before.path, digest_of(before.held))))
            raise ToolError(
                f"{clean(str(before.path))} was not changed: what it holds now could not be kept. {error}"
            ) from error

    def _note_command(self, command: Command) -> None:
        if not command.only_reads:
            self._keeping.ran(command.line)

    def _follow_turn(self) -> None:
        if self._turn != self._keeping.turn:
            self._turn = self._keeping.turn
            self._left.clear()


def _look(path: Path) -> _OnDisk:
    data, mode = _bytes_at(path), None
    if data is not None:
        with files.explained(path):
            mode = stat.S_IMODE(os.stat(encode(path)).st_mode)
    missing = None
    for folder in path.parents:
        if os.path.lexists(encode(folder)):
            break
        missing = folder
    return _OnDisk(data, mode, missing)


def _bytes_at(path: Path) -> bytes | None:
    return files.read(path) if files.exists(path) else None


def _still_holds(path: Path, data: bytes | None) -> bool:
    try:
        return _bytes_at(path) == data
    except ToolError:
        return False
