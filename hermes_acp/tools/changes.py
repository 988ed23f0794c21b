"""One change of one file, as it was judged, and the carrying out of exactly that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hermes_acp.cards import Diff, ToolResult
from hermes_acp.tools.base import Action
from hermes_acp.tools.places import location, shown, unmoved
from hermes_acp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Change:
    """A file's bytes before (None: there is no file) and after, how that is shown, the first changed line, and
    what to say once it is done."""

    path: Path
    old: bytes | None
    new: bytes
    diff: Diff
    line: int
    done: str


def changing(title: str, written: str, change: Change, workspace: Workspace) -> Action:
    """The call that makes the change, refused when the path leads elsewhere or the content is another by then."""
    return Action(
        title,
        partial(_carry_out, written, change, workspace),
        "edit",
        paths=(change.path,),
        diffs=(change.diff,),
        locations=(location(change.path, change.line),),
    )


async def _carry_out(written: str, change: Change, workspace: Workspace) -> ToolResult:
    unmoved(written, change.path, workspace)
    await workspace.write(change.path, change.new, replacing=change.old)
    return ToolResult(
        f"{shown(change.path, workspace)}: {change.done}",
        diffs=(change.diff,),
        locations=(location(change.path, change.line),),
    )
