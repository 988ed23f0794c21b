"""What a person is shown of a tool call, and what its result is made of."""

from __future__ import annotations

from typing import Any, Literal

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Image

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
"""ACP's words for what a tool does (schema v1, ToolKind)."""

Effect = Literal["read", "edit", "execute", "stop", "note", "call", "query", "switch_mode"]
"""What a call does: nothing to the person's machine, change files, run a program, end one that it started, write into
the agent's own memory, let another program do something, ask another program, which says that it changes nothing, or
end the plan mode."""

SHOWN_CHARACTERS = 16_000
"""What a card shows of one text of a tool, live and when it is replayed; the model reads its own cut of it."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A file before and after; `old_text` is None when the file is new. `path` is absolute."""

    path: str
    old_text: str | None
    new_text: str


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file: an absolute path and a line counted from 1, or None for the whole file."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to: `text` (and `images`) for the model, the rest for the person.

    `shown` is what the person sees in place of `text`, when that differs; `diffs` are the edits that were
    really made; `terminal_id` names an editor's terminal that ran the command; `raw` is the small
    machine-readable outcome (such as `{"exit_code": 0}`).
    """

    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()
    shown: str | None = None
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    terminal_id: str | None = None
    raw: dict[str, Any] | None = None

    @property
    def for_person(self) -> str:
        """The text that a person sees."""
        return self.text if self.shown is None else self.shown
