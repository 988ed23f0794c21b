"""Naming files to the model and the person, and what to say of those that are not there."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hermes_acp.cards import Location, ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import paths, ripgrep
from hermes_acp.text import clean, visible
from hermes_acp.tools.base import Action
from hermes_acp.workspace import Workspace

_FILES_LOOKED_AT = 20_000


def shown(path: Path, workspace: Workspace) -> str:
    """The path as the model reads it: relative to the session's folder where it is below it."""
    inside = path.is_relative_to(workspace.cwd)
    return clean(str(path.relative_to(workspace.cwd) if inside else path))


def named(path: Path, workspace: Workspace) -> str:
    """The path for a title: in one line, and with every character that would not be seen written out."""
    return visible(shown(path, workspace)).replace("\n", "\\n")


def location(path: Path, line: int | None = None) -> Location:
    """The place for an editor to show."""
    return Location(clean(str(path)), line)


def unmoved(written: str, path: Path, workspace: Workspace) -> None:
    """Check that what the model wrote still leads to the path that was judged.

    Raises:
        ToolError: a folder or link on the way was changed since.
    """
    now = workspace.resolve(written)
    if now != path:
        raise ToolError(
            f"{clean(written)} leads to {clean(str(now))} now, not to {clean(str(path))}: nothing was done."
        )


def refusal(title: str, path: Path, error: ToolError) -> Action:
    """A call that cannot do its work, and can only tell why.

    The reason speaks of what is in the file, so that telling it is a read of the file, and judged as one.
    """

    async def tell() -> ToolResult:
        raise error

    return Action(title, tell, "read", paths=(path,), locations=(location(path),))


async def missing(path: Path, workspace: Workspace) -> ToolError:
    """The error for a file that does not exist, naming files that may have been meant."""
    near = await asyncio.to_thread(_beside, path)
    near += [name for name in await _elsewhere(path, workspace) if name not in near]
    text = f"{shown(path, workspace)} does not exist."
    names = ", ".join(shown(found, workspace) for found in near[:5])
    return ToolError(f"{text} Did you mean: {names}?" if names else f"{text} list_files shows what there is.")


def _beside(path: Path) -> list[Path]:
    from difflib import get_close_matches

    try:
        names = {name.lower(): name for name in os.listdir(paths.encode(path.parent))}
    except OSError:
        return []
    plain = {clean(name.decode("utf-8", "surrogateescape")): names[name] for name in names}
    close = get_close_matches(clean(path.name).lower(), list(plain), n=3)
    return [paths.decode(os.path.join(paths.encode(path.parent), plain[name])) for name in close]


async def _elsewhere(path: Path, workspace: Workspace) -> list[Path]:
    if not path.is_relative_to(workspace.cwd):
        return []
    try:
        found = await ripgrep.run(
            (b"--files", b"--null"), cwd=workspace.cwd, separator=b"\0", limit=_FILES_LOOKED_AT, seconds=2
        )
    except ToolError:
        return []
    name = paths.encode(path.name).lower()
    same = [record for record in found.records if record.rpartition(b"/")[2].lower() == name]
    return [workspace.cwd / paths.decode(record) for record in same[:3]]
