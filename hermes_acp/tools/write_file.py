"""The tool that makes a file, or replaces all of its content."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from pydantic import Field

from hermes_acp.cards import Diff, ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import codec
from hermes_acp.text import clean
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.changes import Change, changing
from hermes_acp.tools.edits import respelled
from hermes_acp.tools.places import named, refusal


class WriteFile(Params):
    """Write a whole file: make it, with its folders, or replace all of its content. To change a part of a file use
    patch."""

    path: str
    content: str = Field(description="The complete content.")


async def prepare(args: WriteFile, ctx: ToolContext) -> Action:
    """Make a write ready: what the file holds now is read, so that the person sees the difference."""
    path = ctx.workspace.resolve(args.path)
    name = named(path, ctx.workspace)
    try:
        if args.path.endswith("/"):
            raise ToolError(f"{name} names a folder; give the path of a file.")
        old = await ctx.workspace.read(path) if await ctx.workspace.exists(path) else None
        change = await asyncio.to_thread(_planned, path, old, args.content)
    except ToolError as error:
        return refusal(f"Write {name}", path, error)
    if change.new == old:
        return Action(f"Write {name}", partial(_unchanged, name), "read", paths=(path,))
    title = f"Write {name}" if old is not None else f"Create {name}"
    return changing(title, args.path, change, ctx.workspace)


def _planned(path: Path, old: bytes | None, content: str) -> Change:
    if old is None:
        new = content.encode()
        return Change(path, None, new, Diff(clean(str(path)), None, content), 1, f"Created with {_size(new)}.")
    try:
        file = codec.decode(old)
    except codec.NotText as error:
        raise ToolError(f"{clean(str(path))} was not changed: {error}. Remove it first to put text there.") from error
    text = _in_the_style_of(file, content)
    new, note = _encoded(file, text)
    diff = Diff(clean(str(path)), clean(file.text), text)
    return Change(path, old, new, diff, _first_difference(file.text, content), f"Replaced with {_size(new)}{note}.")


def _in_the_style_of(file: codec.TextFile, content: str) -> str:
    """The content with the file's own line breaks, and no byte order mark besides the file's."""
    text = content.removeprefix("\ufeff") if file.bom else content
    return respelled(text, file.text, file.newline) if codec.styles(file.text) else text


def _encoded(file: codec.TextFile, text: str) -> tuple[bytes, str]:
    """The text in the file's own encoding, or in UTF-8 when it has other characters."""
    try:
        return file.encode(text), ""
    except UnicodeEncodeError:
        return text.encode(), f", as UTF-8: {file.encoding} has not all of its characters"


def _first_difference(old: str, new: str) -> int:
    pairs = zip(codec.lines(old), codec.lines(new), strict=False)
    return next((number for number, (before, after) in enumerate(pairs, 1) if before != after), 1)


def _size(data: bytes) -> str:
    lines = data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    return f"{lines} line{'s' * (lines != 1)}, {len(data)} bytes"


async def _unchanged(name: str) -> ToolResult:
    return ToolResult(f"{name} holds exactly this content already; nothing was written.")


TOOL = Tool(
    name="write_file",
    toolset="files",
    kind="edit",
    label="Write a file",
    params=WriteFile,
    effect="edit",
    prepare=prepare,
    paths=lambda args, workspace: (workspace.resolve(args.path),),
)
