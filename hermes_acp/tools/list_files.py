"""The tool that shows what files there are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import files, paths, ripgrep
from hermes_acp.text import clean, counted, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.places import location, missing, named, shown, unmoved
from hermes_acp.workspace import Workspace

_SECONDS = 20.0
_FILES = 50_000
_MOST = 2_000
_DEEPEST = 50


class ListFiles(Params):
    """List files and folders. Ignored (.gitignore) and hidden ones are left out. Folders end with / and say how many
    files are below when these are not listed."""

    path: str = "."
    glob: str = Field("", description="Only files like *.py or src/**/test_*.")
    depth: int = Field(3, description="Levels of folders.")
    hidden: bool = Field(False, description="Hidden files too.")
    limit: int = Field(300, description="Most entries; fewer levels are shown to keep it.")


async def prepare(args: ListFiles, ctx: ToolContext) -> Action:
    """Make a listing ready.

    Raises:
        ToolError: the glob holds a NUL.
    """
    if "\0" in args.glob:
        raise ToolError("The glob holds a NUL character.")
    path = ctx.workspace.resolve(args.path or ".")
    name = named(path, ctx.workspace)
    title = "List the session's folder" if name == "." else f"List {name}"
    return Action(
        f"{title} ({visible(args.glob)})" if args.glob else title,
        partial(_list, args, path, ctx.workspace),
        "read",
        paths=(path,),
        locations=(location(path),),
    )


async def _list(args: ListFiles, path: Path, workspace: Workspace) -> ToolResult:
    unmoved(args.path or ".", path, workspace)
    if not await workspace.exists(path):
        raise await missing(path, workspace)
    if not await asyncio.to_thread(files.is_folder, path):
        raise ToolError(f"{shown(path, workspace)} is not a folder; use read_file to read it.")
    found = await ripgrep.run(_options(args), cwd=path, separator=b"\0", limit=_FILES, seconds=_SECONDS)
    names = [clean(paths.decode(record).as_posix()) for record in found.records]
    limit, depth = min(max(args.limit, 1), _MOST), _DEEPEST if args.glob else min(max(args.depth, 1), _DEEPEST)
    text = _tree(names, depth, limit)
    cut = [f"[not all files were looked at: stopped by the {found.cut}]"] if found.cut else []
    return ToolResult("\n".join([*text, *cut]), locations=(location(path),))


def _options(args: ListFiles) -> list[bytes]:
    options = [b"--files", b"--null"]
    if args.hidden:
        options += [b"--hidden", b"--glob=!.git"]
    if args.glob:
        options.append(b"--glob=" + args.glob.encode())
    return options


def _tree(names: Sequence[str], depth: int, limit: int) -> list[str]:
    if not names:
        return ["(no files, or only hidden and ignored ones)"]
    deepest = min(depth, max(name.count("/") for name in names) + 1)
    shallower = (_entries(names, level) for level in range(deepest, 0, -1))
    level, entries = next(
        ((deepest - less, entries) for less, entries in enumerate(shallower) if len(entries) <= limit),
        (1, _entries(names, 1)),
    )
    notes = [f"[{level} of the levels are shown to keep to {limit} entries]"] if level < deepest else []
    if len(entries) > limit:
        notes = [f"[{counted(len(entries) - limit, 'more entry', 'more entries')}; narrow the path or glob]"]
    return [*entries[:limit], *notes]


def _entries(names: Sequence[str], depth: int) -> list[str]:
    """Files and folders down to a level; the deepest folders with the number of files below them."""
    entries = [name for name in names if name.count("/") < depth]
    below = Counter("/".join(name.split("/")[:depth]) for name in names if name.count("/") >= depth)
    entries += [f"{folder}/ ({counted(count, 'file')})" for folder, count in below.items()]
    entries += {f"{folder}/" for name in names for folder in _folders(name, depth)}
    return sorted(entries)


def _folders(name: str, depth: int) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:level]) for level in range(1, min(len(parts), depth))]


TOOL = Tool(
    name="list_files",
    toolset="files",
    kind="search",
    label="List files",
    params=ListFiles,
    effect="read",
    prepare=prepare,
    paths=lambda args, workspace: (workspace.resolve(args.path or "."),),
)
