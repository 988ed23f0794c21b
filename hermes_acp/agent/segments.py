"""Which calls of a reply may run together: those whose order does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import ToolCall
from hermes_acp.tools.base import Tool
from hermes_acp.workspace import Workspace

_UNFORESEEN = frozenset({"execute", "call"})
"""Effects of which nobody can tell what files they touch."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call whose tool exists and whose arguments fit it."""

    call: ToolCall
    tool: Tool
    args: Any


def segments(entries: Sequence[Resolved], workspace: Workspace) -> list[list[Resolved]]:
    """Cut the calls where order matters: on one path twice, or a command beside an edit."""
    if any(entry.tool.interactive for entry in entries):
        return [[entry] for entry in entries]
    found: list[list[Resolved]] = []
    touched: dict[Path, str] = {}
    effects: set[str] = set()
    for entry in entries:
        paths = _paths(entry, workspace)
        effect = entry.tool.effect
        if not found or _collides(effect, effects, [touched.get(path) for path in paths]):
            found.append([])
            touched, effects = {}, set()
        found[-1].append(entry)
        effects.add(effect)
        touched.update((path, effect) for path in paths if touched.get(path) != "edit")
    return found


def _paths(entry: Resolved, workspace: Workspace) -> tuple[Path, ...]:
    """What the call will touch; a path that cannot be is refused when the call is made ready."""
    try:
        return entry.tool.paths(entry.args, workspace)
    except ToolError:
        return ()


def _collides(effect: str, effects: set[str], on_paths: Sequence[str | None]) -> bool:
    if effect in _UNFORESEEN:
        return "edit" in effects
    if effect == "edit" and effects & _UNFORESEEN:
        return True
    return any(other is not None and "edit" in (effect, other) for other in on_paths)
