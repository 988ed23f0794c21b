"""Sessions as plain text: a table of many, and one with all that was shown in it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path

from hermes_acp.agent.store.changes import FileChange
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.cards import Diff, ToolResult
from hermes_acp.cli.exporting import Whole
from hermes_acp.cli.transcript import Form, written
from hermes_acp.events import PlanEntry
from hermes_acp.text import clean, head_and_tail, local_time, plain, shorten, visible

_TITLE, _FOLDER, _RESULT = 40, 40, 2_000
_SHORTEST_ID, _LEAST = 8, 8
_HEAD = ("ID", "TITLE", "FOLDER", "LAST USED", "TURNS", "COST")


def table(sessions: Sequence[tuple[SessionRecord, int]], columns: int = 0) -> str:
    """A line for each session and the number of its prompts, under a line of headings.

    Args:
        sessions: those to be listed.
        columns: of the terminal; where the lines are longer, ids are cut to as much as names one session, then titles
            and folders. 0: nothing is cut for that.
    """
    rows = [_HEAD, *(_row(record, prompts) for record, prompts in sessions)]
    if 0 < columns < sum(_widths(rows)) + 2 * len(_HEAD) - 2:
        rows = _narrowed(rows, columns)
    widths = _widths(rows)
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _narrowed(rows: Sequence[tuple[str, ...]], columns: int) -> list[tuple[str, ...]]:
    ids = [row[0] for row in rows[1:]]
    length = next((size for size in range(_SHORTEST_ID, 36) if len({name[:size] for name in ids}) == len(ids)), 36)
    widths = _widths([(row[0][:length], *row[1:]) for row in rows])
    room = columns - sum(widths[:1] + widths[3:]) - 2 * (len(_HEAD) - 1)
    folder = min(widths[2], max(room // 3, _LEAST))
    title = max(room - folder, _LEAST)
    return [(row[0][:length], shorten(row[1], title), _end_of(row[2], folder), *row[3:]) for row in rows]


def _end_of(text: str, length: int) -> str:
    return text if len(text) <= length else f"…{text[1 - length :]}"


def as_text(whole: Whole) -> str:
    """A session as a person reads it."""
    transcript = written(whole.events, _plain_in(whole.session.cwd))
    parts = [_heading(whole.session), *transcript, _changes(whole.changes)]
    return plain("\n\n".join(part for part in parts if part)) + "\n"


def cost_of(record: SessionRecord) -> str:
    """What a session has cost, "-" where that is not known, or nothing."""
    return f"${record.cost:.4f}" if record.cost else "-"


def _row(record: SessionRecord, prompts: int) -> tuple[str, ...]:
    title = shorten(_line(record.title) or "-", _TITLE)
    folder = _end_of(_line(_homely(record.cwd)), _FOLDER)
    return record.id, title, folder, local_time(record.updated_at), str(prompts), cost_of(record)


def _homely(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder[len(home) :]}" if home != "/" and folder.startswith(f"{home}/") else folder


def _line(text: str) -> str:
    return visible(text).replace("\n", " ").replace("\t", " ")


def _heading(record: SessionRecord) -> str:
    facts = [
        _line(record.title) or "(no title)",
        f"Session   {record.id}",
        f"Folder    {_line(record.cwd)}",
        f"Begun     {local_time(record.created_at)}",
        f"Last used {local_time(record.updated_at)}",
        f"Cost      {cost_of(record)}",
    ]
    return "\n".join(facts)


def _plan(entries: Sequence[PlanEntry]) -> str:
    return "\n".join(["Plan:", *(f"  [{entry.status}] {_line(entry.content)}" for entry in entries)])


def _tool(folder: str, title: str, result: ToolResult) -> str:
    head = f"* {_line(title)}{' (failed)' if result.is_error else ''}"
    if result.diffs and not result.is_error:
        return "\n".join([head, *(_marked("    ", _diff(diff, folder)) for diff in result.diffs)])
    shown = result.for_person.strip()
    return "\n".join([head, _marked("    ", head_and_tail(shown, _RESULT))]) if shown else head


def _diff(diff: Diff, folder: str) -> str:
    """An edit as a unified diff whose head names the file, in the folder of the session as git would."""
    old = [] if diff.old_text is None else diff.old_text.splitlines()
    path = _line(diff.path)
    place = path.removeprefix(f"{folder}/")
    before, after = (path, path) if place == path else (f"a/{place}", f"b/{place}")
    names = {"fromfile": "/dev/null" if diff.old_text is None else before, "tofile": after}
    return "\n".join(unified_diff(old, diff.new_text.splitlines(), lineterm="", n=2, **names))


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.splitlines())


def _changes(changes: Sequence[FileChange]) -> str:
    if not changes:
        return ""
    lines = (
        f"  turn {change.turn}: {change.kind} {_line(clean(str(change.path)))}{' (undone)' if change.undone else ''}"
        for change in changes
    )
    return "\n".join(["Files changed:", *lines])


def _plain_in(folder: str) -> Form:
    """Plain text, in which the files of this folder go by their names in it."""
    return Form(
        prompt=lambda text: _marked("> ", text),
        answer=str.strip,
        thought=lambda text: _marked("  ~ ", text.strip()),
        plan=_plan,
        notice=lambda notice: f"! {_line(notice.title)}. {notice.text}".strip(),
        compaction=lambda event: f"! The context was compacted: {event.before} tokens became {event.after}.",
        tool=partial(_tool, folder),
    )
