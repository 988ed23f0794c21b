"""The tool that replaces text in a file, in one place or several at once, and touches nothing else in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from hermes_acp.cards import Diff
from hermes_acp.errors import ToolError
from hermes_acp.local import codec
from hermes_acp.text import clean
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.changes import Change, changing
from hermes_acp.tools.edits import Edit, Edited, apply
from hermes_acp.tools.places import missing, named, refusal


class Hunk(Params):
    """One of several edits."""

    old_text: str
    new_text: str
    replace_all: bool = False


def _listed(value: object) -> object:
    """Some models write a list as its JSON, or the one thing in it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    return [value] if isinstance(value, dict) else value


_HUNK_SCHEMA = {
    "type": "object",
    "properties": {
        "old_text": {"type": "string"},
        "new_text": {"type": "string"},
        "replace_all": {"type": "boolean"},
    },
    "required": ["old_text", "new_text"],
}

Hunks = Annotated[
    list[Hunk], BeforeValidator(_listed), WithJsonSchema({"type": "array", "default": [], "items": _HUNK_SCHEMA})
]


class Patch(Params):
    """Replace text in a file. old_text must be exactly what the file holds, with enough lines around it to occur only
    once; nothing else in the file changes."""

    path: str
    old_text: str = ""
    new_text: str = ""
    replace_all: bool = Field(False, description="Replace every occurrence.")
    edits: Hunks = Field([], description="Several edits at once, none overlapping: all are made, or none.")

    @model_validator(mode="after")
    def _has_an_edit(self) -> Self:
        missing = [name for name in ("old_text", "new_text") if name not in self.model_fields_set]
        if missing and not (self.edits and "old_text" in missing):
            raise PydanticCustomError("missing_text", " and ".join(f"{name} is missing" for name in missing))
        return self


async def prepare(args: Patch, ctx: ToolContext) -> Action:
    """Make an edit ready: it is worked out on what the file holds now."""
    path = ctx.workspace.resolve(args.path)
    title = f"Edit {named(path, ctx.workspace)}"
    try:
        edits = _edits(args)
        if not await ctx.workspace.exists(path):
            raise await missing(path, ctx.workspace)
        change = await asyncio.to_thread(_planned, path, await ctx.workspace.read(path), edits)
    except ToolError as error:
        return refusal(title, path, error)
    return changing(title, args.path, change, ctx.workspace)


def _edits(args: Patch) -> list[Edit]:
    alone = Hunk(old_text=args.old_text, new_text=args.new_text, replace_all=args.replace_all)
    hunks = args.edits if args.edits and not args.old_text.strip() else [alone, *args.edits]
    return [_edit(hunk, f"Edit {number} of {len(hunks)}: " * (len(hunks) > 1)) for number, hunk in enumerate(hunks, 1)]


def _edit(hunk: Hunk, which: str) -> Edit:
    if not hunk.old_text.strip():
        raise ToolError(f"{which}old_text is empty or blank: give the text to be replaced, with the lines around it.")
    if hunk.old_text == hunk.new_text:
        raise ToolError(f"{which}old_text and new_text are the same; nothing would change.")
    return Edit(hunk.old_text, hunk.new_text, hunk.replace_all)


def _planned(path: Path, old: bytes, edits: Sequence[Edit]) -> Change:
    try:
        file = codec.decode(old)
    except codec.NotText as error:
        raise ToolError(f"{clean(str(path))} cannot be edited as text: {error}.") from error
    edited = apply(file.text, [_without_mark(edit, file) for edit in edits], file.newline)
    if edited.text == file.text:
        raise ToolError("The file holds new_text already; nothing would change.")
    diff = Diff(clean(str(path)), clean(file.text), clean(edited.text))
    return Change(path, old, _encoded(file, edited.text), diff, edited.lines[0], _told(edited))


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


def _told(edited: Edited) -> str:
    lines = edited.lines
    numbers = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
    made = (
        f"1 replacement, at line {numbers}." if len(lines) == 1 else f"{len(lines)} replacements, at lines {numbers}."
    )
    if not edited.loose:
        return made
    return f"{made} Not exactly old_text was found, but its only near match ({'; '.join(edited.loose)})."


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
