"""A session's workspace when the editor offers its files or terminals: the editor first, the machine otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from hermes_acp.errors import ToolError, Unfinished
from hermes_acp.local import codec, writing
from hermes_acp.local.one_writer import OneWriter
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.protocol.editor_files import EditorFiles, in_the_style_of, same_text, survives_editor
from hermes_acp.protocol.editor_memory import Memory
from hermes_acp.protocol.editor_saving import only_blanks_differ, saved
from hermes_acp.protocol.editor_terminals import EditorTerminals, NoTerminal
from hermes_acp.text import clean
from hermes_acp.workspace import Background, Command, Completed, Enclosure, Lines, Show


class EditorWorkspace:
    """Files and commands of one session in its editor (see `hermes_acp.workspace.Workspace`).

    A file goes through the editor when its bytes survive that: unsaved text is seen, and an edit appears
    where the person looks. Any other file goes by bytes, and is not changed while the editor holds another
    text of it; so does one with several hard links, which an editor would change under all of its names.
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
        self._memory = Memory()
        self._one_writer = OneWriter()

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
        """Whether there is anything at the path, or unsaved text for it in the editor."""
        return await self._local.exists(path) or await self._unsaved(path) is not None

    async def read(self, path: Path) -> bytes:
        held = await self._held(path, await self._on_disk(path))
        return await self._local.read(path) if held is None else held

    async def read_lines(self, path: Path, first: int, count: int, max_bytes: int) -> Lines:
        if self._reading is None:
            return await self._local.read_lines(path, first, count, max_bytes)
        if not await self._local.exists(path) and (unsaved := await self._unsaved(path)) is not None:
            return _part(unsaved, first, count, max_bytes)
        lines = await self._local.read_lines(path, first, count, max_bytes)
        try:
            disk = await self._local.read(path)
        except ToolError:
            return lines
        data = await self._as_held(path, disk)
        return lines if data == disk else _part(data, first, count, max_bytes)

    async def write(self, path: Path, data: bytes, *, replacing: bytes | None) -> bytes:
        async with self._one_writer.of(path):
            return await self._write(path, data, replacing)

    async def _write(self, path: Path, data: bytes, replacing: bytes | None) -> bytes:
        disk = await self._on_disk(path)
        held = await self._held(path, disk)
        if held != replacing:
            raise ToolError(f"{clean(str(path))} was changed since it was read; read it again, then edit.")
        if self._writing is not None and await self._goes_through_editor(path, data, disk):
            return await self._write_in_editor(self._writing, path, data, disk)
        if held != disk:
            raise ToolError(f"{clean(str(path))} has unsaved changes in the editor. Ask the user to save it first.")
        now = await self._local.write(path, data, replacing=replacing)
        self._memory.note(path, now, now, disk_is_right=True)
        return now

    async def accept(self, path: Path) -> bytes | None:
        """See the protocol. Where nobody can tell whether disk or editor is right, the disk is."""
        disk = await self._local.accept(path)
        try:
            return await self._held(path, disk)
        except ToolError:
            buffer = await self._reading.read(path) if self._reading is not None else None
            if disk is not None and buffer is not None:
                self._memory.note(path, disk, in_the_style_of(disk, buffer), disk_is_right=True)
            return disk

    async def remove(self, path: Path, *, holding: bytes) -> None:
        """Remove the file from the disk: an editor cannot be asked to, and its text for it is not unsaved."""
        async with self._one_writer.of(path):
            disk = await self._on_disk(path)
            if await self._held(path, disk) != holding:
                raise writing.changed(path)
            if disk is not None:
                await self._local.remove(path, holding=disk)
            self._memory.note(path, None, holding, disk_is_right=True)

    @property
    def enclosure(self) -> Enclosure:
        return self._local.enclosure

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
        """In the editor's terminal where no sandbox is, or where the person let the command out of it."""
        if self._terminals is not None and (command.access.outside or not self.enclosure.standing):
            try:
                return await self._terminals.run(command, on_output)
            except NoTerminal:
                pass
        return await self._local.run(command, on_output)

    async def _on_disk(self, path: Path) -> bytes | None:
        return await self._local.read(path) if await self._local.exists(path) else None

    async def _held(self, path: Path, disk: bytes | None) -> bytes | None:
        return await self._unsaved(path) if disk is None else await self._as_held(path, disk)

    async def _unsaved(self, path: Path) -> bytes | None:
        """The text that the editor has for a file that is not on the disk. Empty text is none, and neither is that
        of a file which a command of ours has removed."""
        buffer = await self._reading.read(path) if self._reading is not None else None
        if not buffer:
            return None
        held = buffer.encode("utf-8")
        if self._local.runs_in_background():
            self._memory.command_ran()
        if self._memory.disk_is_right(path, None, held):
            return None
        self._memory.note(path, None, held, disk_is_right=False)
        return held

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

    async def _goes_through_editor(self, path: Path, data: bytes, disk: bytes | None) -> bool:
        if not survives_editor(data):
            return False
        if disk is None:
            return True
        return survives_editor(disk) and await asyncio.to_thread(writing.hard_links, path) == 1

    async def _write_in_editor(self, editor: EditorFiles, path: Path, data: bytes, disk: bytes | None) -> bytes:
        """Have the editor write; it follows every link there is by then, so the way is looked at once more."""
        await asyncio.to_thread(writing.check_unmoved, path, disk)
        try:
            await editor.write(path, data.decode("utf-8"))
            now = await saved(path, data, disk, self._on_disk)
        except asyncio.CancelledError:
            raise Unfinished(
                f"Cancelled by the user while the editor was writing {clean(str(path))}: it is not known whether it "
                "was written. Read it before going on."
            ) from None
        if now == disk:
            now = await self._local.write(path, data, replacing=disk)
        elif now is None or not (only_blanks_differ(now, data) or await self._agrees(path, now)):
            raise _written_otherwise(path, now)
        self._memory.note(path, now, now, disk_is_right=True)
        self._local.saw(path, now)
        return now

    async def _agrees(self, path: Path, disk: bytes) -> bool:
        """Whether the editor has the same text, as when it formats what it saves."""
        buffer = await self._reading.read(path) if self._reading is not None else None
        return buffer is not None and survives_editor(disk) and same_text(disk, buffer)


def _written_otherwise(path: Path, now: bytes | None) -> ToolError:
    if now is None:
        return ToolError(f"The editor said that it wrote {clean(str(path))}, but the file is gone: it was deleted.")
    return ToolError(
        f"The editor said that it wrote {clean(str(path))}, but the file holds other content than it was given. "
        "Read it again before going on."
    )


def _flat(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _part(data: bytes, first: int, count: int, max_bytes: int) -> Lines:
    lines = BytesIO(data).readlines()
    part = b"".join(lines[first - 1 : first - 1 + count])
    more = len(part) > max_bytes or first - 1 + count < len(lines)
    return Lines(part[:max_bytes], first, more, len(lines))
