"""A session's workspace when the editor offers its files or terminals: the editor first, the machine otherwise."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local import codec
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.protocol.editor_files import EditorFiles, in_the_style_of, same_text, survives_editor
from hermes_acp.protocol.editor_terminals import EditorTerminals, NoTerminal
from hermes_acp.text import clean
from hermes_acp.workspace import Background, Command, Completed, Lines, Show

_SAVED_SECONDS = 1.0
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class _Look:
    """What disk and editor held when a file was last looked at, and which of them was right."""

    disk: bytes
    held: bytes
    disk_was_right: bool
    commands: int


@dataclass(slots=True)
class _Memory:
    """The last look at each file, and how many commands of ours have run."""

    _looks: dict[Path, _Look] = field(default_factory=dict)
    _commands: int = 0

    def note(self, path: Path, disk: bytes, held: bytes, *, disk_is_right: bool) -> None:
        self._looks[path] = _Look(_digest(disk), _digest(held), disk_is_right, self._commands)

    def command_ran(self) -> None:
        self._commands += 1

    def disk_is_right(self, path: Path, disk: bytes, held: bytes) -> bool | None:
        """Whether the disk is right where it differs from the editor; None when nobody can tell.

        What was changed since the last look is right; a change of the disk counts only when it was a command
        of ours.
        """
        last = self._looks.get(path)
        if last is None:
            return False
        disk_changed, held_changed = last.disk != _digest(disk), last.held != _digest(held)
        if not disk_changed:
            return last.disk_was_right and not held_changed
        return True if not held_changed and last.commands != self._commands else None


class EditorWorkspace:
    """Files and commands of one session in its editor (see `hermes_acp.workspace.Workspace`).

    A file goes through the editor when its bytes survive that: unsaved text is seen, and an edit appears
    where the person looks. Any other file goes by bytes, and is not changed while the editor holds another
    text of it.
    """

    def __init__(
        self,
        local: LocalWorkspace,
        *,
        reading: EditorFiles | None = None,
        writing: EditorFiles | None = None,
        terminals: EditorTerminals | None = None,
    ) -> None:
        self._local = local
        self._reading = reading
        self._writing = writing
        self._terminals = terminals
        self._memory = _Memory()

    @property
    def cwd(self) -> Path:
        return self._local.cwd

    @property
    def roots(self) -> tuple[Path, ...]:
        return self._local.roots

    def set_further_roots(self, folders: tuple[Path, ...]) -> None:
        self._local.set_further_roots(folders)

    def resolve(self, path: str) -> Path:
        return self._local.resolve(path)

    async def exists(self, path: Path) -> bool:
        return await self._local.exists(path)

    async def read(self, path: Path) -> bytes:
        return await self._as_held(path, await self._local.read(path))

    async def read_lines(self, path: Path, first: int, count: int, max_bytes: int) -> Lines:
        lines = await self._local.read_lines(path, first, count, max_bytes)
        if self._reading is None:
            return lines
        try:
            disk = await self._local.read(path)
        except ToolError:
            return lines
        data = await self._as_held(path, disk)
        return lines if data == disk else _part(data, first, count, max_bytes)

    async def write(self, path: Path, data: bytes, *, replacing: bytes | None) -> None:
        disk = await self._local.read(path) if await self._local.exists(path) else None
        held = disk if disk is None else await self._as_held(path, disk)
        if held != replacing:
            raise ToolError(f"{clean(str(path))} was changed since it was read; read it again, then edit.")
        if self._writing is not None and survives_editor(data) and (disk is None or survives_editor(disk)):
            await self._write_in_editor(path, data, disk)
        elif held != disk:
            raise ToolError(f"{clean(str(path))} has unsaved changes in the editor. Ask the user to save it first.")
        else:
            await self._local.write(path, data, replacing=replacing)
            self._memory.note(path, data, data, disk_is_right=True)

    async def run(self, command: Command, on_output: Show) -> Completed:
        try:
            return await self._run(command, on_output)
        finally:
            self._memory.command_ran()
            self._local.command_ran()

    async def start(self, command: Command) -> str:
        """A background command runs on this machine: an editor's terminal is released when its card ends."""
        self._memory.command_ran()
        return await self._local.start(command)

    @property
    def background(self) -> Mapping[str, Background]:
        return self._local.background

    async def aclose(self) -> None:
        await self._local.aclose()

    async def _run(self, command: Command, on_output: Show) -> Completed:
        if self._terminals is not None:
            try:
                return await self._terminals.run(command, on_output)
            except NoTerminal:
                pass
        return await self._local.run(command, on_output)

    async def _as_held(self, path: Path, disk: bytes) -> bytes:
        """The file's content by the rules of who is right, the disk or the editor.

        Raises:
            ToolError: both were changed, or the disk by someone else.
        """
        buffer = await self._reading.read(path) if self._reading is not None else None
        if buffer is None or (survives_editor(disk) and same_text(disk, buffer)):
            self._memory.note(path, disk, disk, disk_is_right=True)
            return disk
        if not survives_editor(disk):
            return self._by_bytes(path, disk, buffer)
        return self._right_one(path, disk, in_the_style_of(disk, buffer))

    def _right_one(self, path: Path, disk: bytes, held: bytes) -> bytes:
        if self._local.runs_in_background():
            self._memory.command_ran()
        disk_is_right = self._memory.disk_is_right(path, disk, held)
        if disk_is_right is None:
            raise ToolError(
                f"{clean(str(path))} differs between the disk and the editor: it was changed in both, or on the disk "
                "by another program. Ask the user which one is right."
            )
        self._memory.note(path, disk, held, disk_is_right=disk_is_right)
        return disk if disk_is_right else held

    def _by_bytes(self, path: Path, disk: bytes, buffer: str) -> bytes:
        try:
            text = codec.decode(disk).text
        except codec.NotText:
            return disk
        if _flat(text).removesuffix("\n") == _flat(buffer).removesuffix("\n"):
            return disk
        raise ToolError(
            f"{clean(str(path))} has unsaved changes in the editor, or is shown by it in another encoding. "
            "Ask the user to save it first."
        )

    async def _write_in_editor(self, path: Path, data: bytes, disk: bytes | None) -> None:
        assert self._writing is not None
        if disk is None:
            await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        await self._writing.write(path, data.decode("utf-8"))
        saved = await self._saved(path, data, disk)
        if saved == disk:
            await self._local.write(path, data, replacing=disk)
            saved = data
        if saved is not None:
            self._memory.note(path, saved, saved, disk_is_right=True)
            self._local.saw(path, saved)

    async def _saved(self, path: Path, data: bytes, before: bytes | None) -> bytes | None:
        """What stands on the disk once the editor has saved; some save a moment after they have answered."""
        deadline = time.monotonic() + _SAVED_SECONDS
        while True:
            now = await self._local.read(path) if await self._local.exists(path) else None
            if now == data or time.monotonic() > deadline:
                return now
            if now != before and now is not None and now.strip() == data.strip():
                return now
            await asyncio.sleep(_LOOK_SECONDS)


def _flat(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _part(data: bytes, first: int, count: int, max_bytes: int) -> Lines:
    lines = BytesIO(data).readlines()
    part = b"".join(lines[first - 1 : first - 1 + count])
    more = len(part) > max_bytes or first - 1 + count < len(lines)
    return Lines(part[:max_bytes], first, more, len(lines))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
