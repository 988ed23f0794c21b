"""The tool that searches the contents of files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from hermes_acp.cards import Location, ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import files, paths, ripgrep
from hermes_acp.text import clean, counted, shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.places import location, missing, named, shown, unmoved
from hermes_acp.tools.safety.paths import is_secret
from hermes_acp.workspace import Workspace

_SECONDS = 20.0
_LINE = 300
_CHARACTERS = 40_000
_MOST = 1_000
_PATTERN = 4_000
_LOCATIONS = 10
_NARROWER = "search in a smaller folder or with a glob"


class SearchFiles(Params):
    """Search the contents of files with a regular expression (ripgrep syntax). Ignored files (.gitignore) are left
    out. Results are path:line:text, sorted by path."""

    pattern: str
    path: str = Field(".", description="File or folder.")
    glob: str = Field("", description="Only files like *.py or !*.min.js.")
    ignore_case: bool = False
    hidden: bool = Field(False, description="Hidden files too.")
    context: int = Field(0, description="Lines around each match.")
    limit: int = Field(100, description="Most lines of results.")


async def prepare(args: SearchFiles, ctx: ToolContext) -> Action:
    """Make a search ready.

    Raises:
        ToolError: the pattern is empty, too long, or holds a NUL.
    """
    if not args.pattern or len(args.pattern) > _PATTERN or "\0" in args.pattern + args.glob:
        raise ToolError(f"The pattern must have 1 to {_PATTERN} characters, none of them NUL.")
    path = ctx.workspace.resolve(args.path or ".")
    return Action(
        f'Search "{_line(args.pattern)}" in {_place(args, path, ctx.workspace)}',
        partial(_search, args, path, ctx.workspace),
        "read",
        paths=(path,),
        locations=(location(path),),
    )


async def _search(args: SearchFiles, path: Path, workspace: Workspace) -> ToolResult:
    unmoved(args.path or ".", path, workspace)
    if not await workspace.exists(path):
        raise await missing(path, workspace)
    is_folder = await asyncio.to_thread(files.is_folder, path)
    folder, target = (path, b"./") if is_folder else (path.parent, b"./" + paths.encode(path.name))
    limit = min(max(args.limit, 1), _MOST)
    found = await ripgrep.run(
        (*_options(args), b"--", args.pattern.encode(), target),
        cwd=folder,
        separator=b"\n",
        limit=limit,
        seconds=_SECONDS,
    )
    records = [record for record in found.records if path != folder or not is_secret(_file(record, folder))]
    lines, places = _told(records, folder, workspace)
    notes = [*_notes(found, len(records) - len(lines)), *_kept_back(len(found.records) - len(records))]
    return ToolResult("\n".join([*lines, *notes]), locations=places or (location(path),))


def _options(args: SearchFiles) -> list[bytes]:
    options = [b"--no-heading", b"--with-filename", b"--line-number", b"--null"]
    options += [b"--max-columns=%d" % _LINE, b"--max-columns-preview", b"--context=%d" % min(max(args.context, 0), 20)]
    if args.ignore_case:
        options.append(b"--ignore-case")
    if args.hidden:
        options += [b"--hidden", b"--glob=!.git"]
    if args.glob:
        options.append(b"--glob=" + args.glob.encode())
    if "\n" in args.pattern or "\\n" in args.pattern:
        options.append(b"--multiline")
    return options


def _told(records: Sequence[bytes], folder: Path, workspace: Workspace) -> tuple[list[str], tuple[Location, ...]]:
    lines: list[str] = []
    places: list[Location] = []
    size = 0
    for record in records:
        file, rest = _file(record, folder), record.partition(b"\0")[2]
        line = f"{shown(file, workspace)}:{_text(rest)}" if rest else "--"
        size += len(line) + 1
        if size > _CHARACTERS:
            break
        lines.append(line)
        number = rest.partition(b":")[0]
        if number.isdigit() and len(places) < _LOCATIONS:
            places.append(location(file, int(number)))
    return lines, tuple(places)


def _file(record: bytes, folder: Path) -> Path:
    return folder / paths.decode(record.partition(b"\0")[0])


def _text(rest: bytes) -> str:
    return clean(rest.decode("utf-8", "replace")).removesuffix("\r")


def _notes(found: ripgrep.Found, untold: int) -> list[str]:
    if not found.records:
        if found.cut == "time":
            raise ToolError(f"Nothing was found within {_SECONDS:g} seconds: {_NARROWER}.")
        return ["No matches. (Hidden, ignored and binary files were not searched.)"]
    if found.cut == "time":
        return [f"[stopped after {_SECONDS:g} seconds; there may be more: {_NARROWER}]"]
    if found.cut or untold:
        return ["[these are the first lines; there are more: narrow the pattern, path or glob]"]
    return []


def _kept_back(count: int) -> list[str]:
    """Searching a folder asks nobody; a file that looks like it holds secrets is asked for by its name."""
    if not count:
        return []
    return [f"[left out: {counted(count, 'line')} of files that look like they hold secrets; name such a file as path]"]


def _place(args: SearchFiles, path: Path, workspace: Workspace) -> str:
    name = named(path, workspace)
    where = "the session's folder" if name == "." else name
    return f"{where} ({_line(args.glob)})" if args.glob else where


def _line(written: str) -> str:
    return shorten(visible(written).replace("\n", "\\n"), 80)


TOOL = Tool(
    name="search_files",
    toolset="files",
    kind="search",
    label="Search in files",
    params=SearchFiles,
    effect="read",
    prepare=prepare,
    paths=lambda args, workspace: (workspace.resolve(args.path or "."),),
)
