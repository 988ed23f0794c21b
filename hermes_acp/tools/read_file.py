"""The tool that shows a text file, or a range of its lines, with line numbers; or a picture."""

from __future__ import annotations

import asyncio
from functools import partial
from io import BytesIO
from pathlib import Path

from pydantic import Field

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import codec, pictures
from hermes_acp.local.picture_formats import BrokenPicture, begins_like_picture
from hermes_acp.text import clean
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.places import location, missing, named, shown, unmoved
from hermes_acp.workspace import Lines, Workspace

_LINES = 2_000
_LINE = 2_000
_FARTHEST = 2**32 - 1
"""No line is beyond it: ACP counts lines in 32 bits."""
_CHARACTERS = 50_000
_BYTES = 200_000
_PICTURE_BYTES = 24 * 1024 * 1024
_LOOK = "Use terminal (file, xxd, …) to look into it."


class ReadFile(Params):
    """Read a text file. Lines come numbered; the number and the tab after it are not part of the file. Long files
    come in parts: read on with offset. A PNG, JPEG, GIF or WebP picture is shown to you."""

    path: str
    offset: int = Field(1, description="First line, from 1.")
    limit: int = Field(_LINES, description="Number of lines.")


async def prepare(args: ReadFile, ctx: ToolContext) -> Action:
    """Make a read ready; nothing of the file is looked at yet."""
    path = ctx.workspace.resolve(args.path)
    first, count = min(max(args.offset, 1), _FARTHEST), min(max(args.limit, 1), 10 * _LINES)
    return Action(
        f"Read {named(path, ctx.workspace)}{_range(first, count)}",
        partial(_read, args.path, path, first, count, ctx.workspace),
        "read",
        paths=(path,),
        locations=(location(path, first),),
    )


async def _read(written: str, path: Path, first: int, count: int, workspace: Workspace) -> ToolResult:
    unmoved(written, path, workspace)
    if not await workspace.exists(path):
        raise await missing(path, workspace)
    lines = await workspace.read_lines(path, first, count, _BYTES)
    head = lines.data if first == 1 else (await workspace.read_lines(path, 1, 1, 64)).data
    if begins_like_picture(head) and (codec.is_binary(head) or b"\0" in lines.data):
        return await _picture(path, workspace)
    if codec.is_wide(head):
        lines = await asyncio.to_thread(_wide, await workspace.read(path), first, count)
    elif codec.is_binary(head) or b"\0" in lines.data:
        raise ToolError(f"{shown(path, workspace)} is a binary file. {_LOOK}")
    return ToolResult(_page(lines), locations=(location(path, first),))


async def _picture(path: Path, workspace: Workspace) -> ToolResult:
    lines = await workspace.read_lines(path, 1, _PICTURE_BYTES, _PICTURE_BYTES)
    try:
        if lines.more:
            raise BrokenPicture(f"is larger than {_PICTURE_BYTES // 1024 // 1024} MiB")
        picture = await pictures.fit(lines.data)
    except BrokenPicture as error:
        reason = f"is a binary file that cannot be shown: it {error}"
        raise ToolError(f"{shown(path, workspace)} {reason}. {_LOOK}") from error
    text = f"{shown(path, workspace)}: {picture.describe()}, {len(lines.data):,} bytes."
    return ToolResult(text, images=(picture.image,), locations=(location(path),))


def _wide(data: bytes, first: int, count: int) -> Lines:
    try:
        lines = BytesIO(codec.decode(data).text.encode()).readlines()
    except codec.NotText as error:
        raise ToolError(f"The file cannot be shown: {error}.") from error
    part = b"".join(lines[first - 1 : first - 1 + count])
    return Lines(part[:_BYTES], first, more=len(part) > _BYTES or first - 1 + count < len(lines), total=len(lines))


def _page(lines: Lines) -> str:
    if not lines.data:
        return _nothing(lines)
    rows = _rows(lines)
    numbered: list[str] = []
    size = 0
    for row in rows:
        line = f"{lines.first + len(numbered):>6}\t{row}"
        size += len(line) + 1
        if numbered and size > _CHARACTERS:
            break
        numbered.append(line)
    return "\n".join([*numbered, *_note(lines, lines.first + len(numbered), len(numbered) < len(rows))])


def _nothing(lines: Lines) -> str:
    if not lines.total:
        return "(the file is empty)"
    return f"(the file has {lines.total} lines; line {lines.first} is past its end)"


def _rows(lines: Lines) -> list[str]:
    rows = codec.readable(lines.data).split("\n")
    broken = lines.more and not lines.data.endswith(b"\n")
    if len(rows) > 1 and (broken or not rows[-1]):
        rows.pop()
    known = "more than " if broken and len(rows) == 1 else ""
    return [_cut(clean(row.removesuffix("\r")), known) for row in rows]


def _cut(row: str, known: str) -> str:
    return row if len(row) <= _LINE else f"{row[:_LINE]} … [line cut here; it has {known}{len(row)} characters]"


def _note(lines: Lines, following: int, unfinished: bool) -> list[str]:
    if not (unfinished or lines.more):
        return []
    total = f" of {lines.total}" if lines.total else ""
    return [f"\n[lines {lines.first}-{following - 1}{total} are shown; read on with offset={following}]"]


def _range(first: int, count: int) -> str:
    if count != _LINES:
        return f" (lines {first}-{first + count - 1})"
    return f" (from line {first})" if first > 1 else ""


TOOL = Tool(
    name="read_file",
    toolset="files",
    kind="read",
    label="Read a file",
    params=ReadFile,
    effect="read",
    prepare=prepare,
    paths=lambda args, workspace: (workspace.resolve(args.path),),
)
