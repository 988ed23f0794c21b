"""The tool that keeps facts for later sessions."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from hermes_acp.agent.memory import Change, Notebook, listed, memory_of, profile_of, size_of
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local.waiting import surely_told
from hermes_acp.text import shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

_TITLE = 80
_VERBS = {"add": "Remember", "replace": "Correct a memory", "remove": "Forget"}


class Memory(Params):
    """Keep what will matter in later sessions, in short entries: facts about projects, tools and what was learned
    (memory), or who the user is and what they prefer (user). Not what the files say, not the task at hand, no secrets.
    The prompt shows it from the next session on."""

    action: Literal["add", "replace", "remove"]
    target: Literal["memory", "user"] = "memory"
    content: str = Field("", description="The entry, for add and replace.")
    old_text: str = Field("", description="For replace and remove: a part of the entry that no other one has.")


def make(desk: Desk) -> Tool:
    """The memory of the person whose folder is `desk.home`."""
    # Calls of one reply take effect in call order.
    turn = asyncio.Lock()
    return Tool(
        name="memory",
        toolset="memory",
        kind="other",
        label="Memory",
        params=Memory,
        effect="note",
        prepare=partial(_prepare, desk.home, turn),
    )


async def _prepare(home: Path | None, turn: asyncio.Lock, args: Memory, ctx: ToolContext) -> Action:
    """Make a change of the memory ready; which entry is meant is looked up when it is made."""
    if home is None:
        raise ToolError("There is no folder to keep a memory in.")
    notebook = profile_of(home) if args.target == "user" else memory_of(home)
    return Action(_title(args), partial(_change, notebook, args, turn), "note")


async def _change(notebook: Notebook, args: Memory, turn: asyncio.Lock) -> ToolResult:
    async with turn:
        told = f"Cancelled by the user, but {notebook.path.name} had been changed by then."
        change = await surely_told(asyncio.to_thread(_apply, notebook, args), told)
    size = f"{notebook.path.name} holds {size_of(change.entries):,} of {notebook.limit:,} characters."
    return ToolResult(f"Done. {size} The entries are:\n{listed(change.entries)}", shown=f"{_shown(change)}\n{size}")


def _apply(notebook: Notebook, args: Memory) -> Change:
    match args.action:
        case "add":
            return notebook.add(args.content)
        case "replace":
            return notebook.replace(args.old_text, args.content)
        case "remove":
            return notebook.remove(args.old_text)


def _title(args: Memory) -> str:
    about = args.content if args.action == "add" else args.old_text
    words = " ".join(visible(about.replace("\n", " ")).split())
    return f"{_VERBS[args.action]}: {shorten(words, _TITLE)}"


def _shown(change: Change) -> str:
    lines = [f"- {line}" for line in change.old.splitlines()] + [f"+ {line}" for line in change.new.splitlines()]
    return visible("\n".join(lines))
