"""Takes a turn back: its files as they were before it, and the conversation without it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from hermes_acp.agent.kept_workspace import KeptWorkspace
from hermes_acp.agent.store.changes import OldFile
from hermes_acp.agent.store.contents import digest_of
from hermes_acp.cards import Diff
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import codec
from hermes_acp.local.files import read
from hermes_acp.local.paths import encode
from hermes_acp.local.removing import remove_empty_folders
from hermes_acp.local.writing import changed
from hermes_acp.text import clean
from hermes_acp.workspace import Workspace

Standing = Literal["as_before", "as_left", "changed", "lost"]
"""How a file stands against a turn: as before it, as the turn left it, changed since, or not restorable."""


@dataclass(frozen=True, slots=True)
class Restoring:
    """A file of the turn that is undone: what it holds now, how it stands, and why it cannot be restored, if so."""

    file: OldFile
    now: bytes | None
    standing: Standing
    reason: str = ""

    @property
    def diff(self) -> Diff | None:
        """The change, where both sides are text."""
        old, new = _text(self.now), _text(self.file.held)
        if old is None and new is None:
            return None
        return Diff(clean(str(self.file.path)), None if self.now is None else old or "", new or "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: a few words, and whether it is as it was."""

    file: OldFile
    text: str
    done: bool


async def look_at(files: Sequence[OldFile], workspace: Workspace) -> list[Restoring]:
    """How the files of a turn stand now; nothing is changed."""
    return [await _look(file, workspace) for file in files]


async def restore(each: Restoring, workspace: KeptWorkspace) -> Outcome:
    """Bring one file back, the way that edits go; one that cannot be is left as it is.

    Symbolic links stay: the file that they lead to is the one that was changed. A file that is made again has the
    mode that it had.
    """
    if each.standing == "lost":
        return Outcome(each.file, each.reason, done=False)
    if each.standing == "as_before":
        return Outcome(each.file, "was so already", done=True)
    try:
        return await _restore(each, workspace.inner)
    except ToolError as error:
        return Outcome(each.file, str(error), done=False)


async def _look(file: OldFile, workspace: Workspace) -> Restoring:
    try:
        now = await _content(file.path, workspace)
    except ToolError as error:
        return Restoring(file, None, "lost", str(error))
    digest = digest_of(now)
    if digest == file.digest:
        return Restoring(file, now, "as_before")
    if file.existed and file.held is None:
        return Restoring(file, now, "lost", "what it held before is not kept (it was too large, or is too long ago)")
    return Restoring(file, now, "changed" if file.mixed or digest != file.after else "as_left")


async def _content(path: Path, workspace: Workspace) -> bytes | None:
    """What the file holds now; what the disk holds where that and the editor are at odds."""
    if not await workspace.exists(path):
        return None
    try:
        return await workspace.read(path)
    except ToolError:
        return await asyncio.to_thread(read, path)


async def _restore(each: Restoring, workspace: Workspace) -> Outcome:
    file = each.file
    if each.standing == "changed" and await workspace.accept(file.path) != each.now:
        raise changed(file.path)
    if file.held is None:
        if each.now is not None:
            await workspace.remove(file.path, holding=each.now)
        if file.made_folder is not None:
            await asyncio.to_thread(remove_empty_folders, file.path, file.made_folder)
        return Outcome(file, "removed", done=True)
    stands = await workspace.write(file.path, file.held, replacing=each.now)
    if each.now is None and file.mode is not None:
        await asyncio.to_thread(os.chmod, encode(file.path), file.mode)
    return Outcome(file, _restored(each, stands), done=True)


def _restored(each: Restoring, stands: bytes) -> str:
    if stands != each.file.held:
        return "restored; the editor has changed it further when it saved it"
    if each.file.unsaved:
        return "restored, with the text that was unsaved in the editor, which is saved now"
    return "made again" if each.now is None else "restored"


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else clean(codec.decode(data).text)
    except codec.NotText:
        return None
