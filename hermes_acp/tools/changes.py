"""One change of one file, as it was judged, and the carrying out of exactly that."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from hermes_acp.cards import Diff, ToolResult
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean
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
    now = await workspace.write(change.path, change.new, replacing=change.old)
    made = change if now == change.new else _made_otherwise(change, now)
    return ToolResult(
        f"{shown(made.path, workspace)}: {made.done}",
        diffs=(made.diff,),
        locations=(location(made.path, made.line),),
    )


def _made_otherwise(change: Change, now: bytes) -> Change:
    """The change as the file shows it, when the editor has put something else there."""
    text = clean(now.decode("utf-8", "replace"))
    done = f"{change.done} The editor changed it further when it saved it: read it again before the next edit."
    return replace(change, new=now, diff=replace(change.diff, new_text=text), done=done)
