"""The tool that replaces text in a file, exactly, and touches nothing else in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from hermes_acp.cards import Diff
from hermes_acp.errors import ToolError
from hermes_acp.local import codec
from hermes_acp.text import clean
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.changes import Change, changing
from hermes_acp.tools.edits import Edit, apply
from hermes_acp.tools.places import missing, named, refusal


class Patch(Params):
    """Replace text in a file. old_text must be exactly what the file holds, with enough lines around it to occur only
    once; nothing else in the file changes."""

    path: str
    old_text: str
    new_text: str
    replace_all: bool = Field(False, description="Replace every occurrence.")


async def prepare(args: Patch, ctx: ToolContext) -> Action:
    """Make an edit ready: it is worked out on what the file holds now."""
    path = ctx.workspace.resolve(args.path)
    title = f"Edit {named(path, ctx.workspace)}"
    try:
        edits = (_edit(args),)
        if not await ctx.workspace.exists(path):
            raise await missing(path, ctx.workspace)
        change = await asyncio.to_thread(_planned, path, await ctx.workspace.read(path), edits)
    except ToolError as error:
        return refusal(title, path, error)
    return changing(title, args.path, change, ctx.workspace)


def _edit(args: Patch) -> Edit:
    if not args.old_text.strip():
        raise ToolError("old_text is empty or blank: give the text to be replaced, with the lines around it.")
    if args.old_text == args.new_text:
        raise ToolError("old_text and new_text are the same; nothing would change.")
    return Edit(args.old_text, args.new_text, args.replace_all)


def _planned(path: Path, old: bytes, edits: Sequence[Edit]) -> Change:
    try:
        file = codec.decode(old)
    except codec.NotText as error:
        raise ToolError(f"{clean(str(path))} cannot be edited as text: {error}.") from error
    edited = apply(file.text, [_without_mark(edit, file) for edit in edits], file.newline)
    diff = Diff(clean(str(path)), clean(file.text), clean(edited.text))
    return Change(path, old, _encoded(file, edited.text), diff, edited.lines[0], _told(edited.lines))


def _without_mark(edit: Edit, file: codec.TextFile) -> Edit:
    if not file.bom:
        return edit
    return Edit(edit.old.removeprefix("\ufeff"), edit.new.removeprefix("\ufeff"), edit.everywhere)


def _encoded(file: codec.TextFile, text: str) -> bytes:
    try:
        return file.encode(text)
    except UnicodeEncodeError as error:
        odd = text[error.start]
        raise ToolError(
            f"The file is in {file.encoding}, which has no character {odd!r} (U+{ord(odd):04X}). Use only characters "
            "that it has, or convert the file first. Nothing was changed."
        ) from error


def _told(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"1 replacement, at line {lines[0]}."
    numbers = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
    return f"{len(lines)} replacements, at lines {numbers}."


TOOL = Tool(
    name="patch",
    toolset="files",
    kind="edit",
    label="Edit a file",
    params=Patch,
    effect="edit",
    prepare=prepare,
    paths=lambda args, workspace: (workspace.resolve(args.path),),
)
