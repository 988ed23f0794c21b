"""The `session_search` tool: what was said in earlier sessions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from hermes_acp.agent.store.records import FoundSession, Said, Search
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import StoreError, ToolError
from hermes_acp.text import shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

MOST_WORDS = 16
_WORD_CHARACTERS = 64
_FOUND_CHARACTERS = 800
_NEXT_CHARACTERS = 300

EVERY_FOLDER = Path("/")
"""What is asked about when the sessions of other folders are to be read: they lie outside the session's own."""


class SessionSearch(Params):
    """Search what you and the user said in earlier sessions of this folder. Use it when they refer to work that is not
    in this conversation. Gives for each session the best place and what was said around it."""

    query: str = Field(description="words; sessions with all of them come first")
    limit: int = Field(3, ge=1, le=10, description="sessions")
    everywhere: bool = Field(False, description="in all folders; the user is asked")


def make(desk: Desk) -> Tool:
    """The tool of one session, which is not searched itself."""
    return Tool(
        name="session_search",
        toolset="agent",
        kind="search",
        label="Search past sessions",
        params=SessionSearch,
        effect="read",
        prepare=partial(_prepare, desk),
    )


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query, each once. Nothing of it is ever syntax."""
    found = (word[:_WORD_CHARACTERS] for word in re.findall(r"\w+", query) if any(map(str.isalnum, word)))
    return tuple(dict.fromkeys(found))[:MOST_WORDS]


async def _prepare(desk: Desk, args: SessionSearch, context: ToolContext) -> Action:
    words = words_of(args.query)
    if not words:
        raise ToolError("The query holds no word. Give words that were said.")
    cwd = None if args.everywhere else str(context.workspace.cwd)
    search = Search(words, desk.talk.id, cwd, args.limit)
    where = " of every folder" if args.everywhere else ""
    title = f"Search past sessions{where}: {shorten(visible(' '.join(words)), 100)}"
    return Action(title, partial(_run, desk, search), "read", (EVERY_FOLDER,) if args.everywhere else ())


async def _run(desk: Desk, search: Search) -> ToolResult:
    try:
        found = await desk.store.search(search)
    except StoreError as error:
        raise ToolError(f"The sessions cannot be searched now: {error}") from None
    if found:
        return ToolResult("\n\n".join(_described(each, search) for each in found))
    return ToolResult("No earlier session holds these words." + (" This folder's were searched." if search.cwd else ""))


def _described(found: FoundSession, search: Search) -> str:
    session = found.session
    title = shorten(session.title or "(without a title)", 100)
    folder = "" if search.cwd else f", in {session.cwd}"
    head = f"## {title} ({session.updated_at[:10]}, session {session.id}{folder})"
    return "\n".join([head, *(_quoted(said, search.words) for said in found.said)])


def _quoted(said: Said, words: Sequence[str]) -> str:
    text = " ".join(said.text.split())
    shown = _passage(text, words) if said.found else shorten(text, _NEXT_CHARACTERS)
    return f"{'> ' if said.found else ''}{said.role}: {shown}"


def _passage(text: str, words: Sequence[str]) -> str:
    """The part of a text that begins a little before the first of the words in it."""
    places = [at for word in words if (at := text.lower().find(word.lower())) >= 0]
    start = max(min(places, default=0) - _FOUND_CHARACTERS // 4, 0)
    return ("…" if start else "") + shorten(text[start:], _FOUND_CHARACTERS)
