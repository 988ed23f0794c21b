"""A whole session as JSON or Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hermes_acp.agent.store.changes import FileChange
from hermes_acp.agent.store.codec import dump, encode_event, encode_message, recorded
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.cards import ToolResult
from hermes_acp.cli.transcript import Form, written
from hermes_acp.events import ContextCompacted, Event, PlanEntry
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message
from hermes_acp.text import clean, fenced, plain, visible


@dataclass(frozen=True, slots=True)
class Whole:
    """All that is stored of a session: what the model sees, what was shown, which files were changed."""

    session: SessionRecord
    messages: Sequence[Message]
    events: Sequence[Event]
    changes: Sequence[FileChange]


def as_json(whole: Whole) -> str:
    """The session as one JSON object: `session`, `messages` (as for the OpenAI API), `transcript`, `changes`."""
    value = {
        "session": asdict(whole.session),
        "messages": [json.loads(encode_message(message)) for message in whole.messages],
        "transcript": [_event(event) for event in whole.events if recorded(event)],
        "changes": [_change(change) for change in whole.changes],
    }
    return clean(json.dumps(json.loads(dump(value)), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def as_markdown(whole: Whole) -> str:
    """The session as Markdown. What others wrote stands in fences and quotations, which nothing in it can end."""
    record = whole.session
    facts = [
        f"- Session: {_code(record.id)}",
        f"- Folder: {_code(record.cwd)}",
        f"- Begun: {_code(record.created_at)}",
        f"- Last used: {_code(record.updated_at)}",
    ]
    parts = [
        "# Session",
        _quoted(record.title),
        "\n".join(facts),
        *written(whole.events, _MARKDOWN),
        _changes(whole.changes),
    ]
    return plain("\n\n".join(part for part in parts if part)) + "\n"


def _event(event: Event) -> dict[str, Any]:
    kind, body = encode_event(event)
    return {"kind": kind, "event": json.loads(body)}


def _change(change: FileChange) -> dict[str, Any]:
    return {
        "turn": change.turn,
        "path": clean(str(change.path)),
        "kind": change.kind,
        "undone": change.undone,
    }


def _plan(entries: Sequence[PlanEntry]) -> str:
    return "### Plan\n\n" + "\n".join(f"- {entry.status}: {_code(entry.content)}" for entry in entries)


def _compaction(event: ContextCompacted) -> str:
    return f"### Compacted from {event.before} to {event.after} tokens\n\n{_quoted(event.summary)}"


def _tool(title: str, result: ToolResult) -> str:
    state = "failed" if result.is_error else "done"
    parts = [f"### Tool, {state}: {_code(title)}"]
    for diff in () if result.is_error else result.diffs:
        before = [] if diff.old_text is None else ["Before:", fenced(diff.old_text)]
        parts += [_code(diff.path), *before, "After:", fenced(diff.new_text)]
    return "\n\n".join([*parts, fenced(result.for_person)] if result.for_person.strip() else parts)


def _changes(changes: Sequence[FileChange]) -> str:
    if not changes:
        return ""
    lines = (
        f"- turn {change.turn}, {change.kind}{', undone' if change.undone else ''}: {_code(str(change.path))}"
        for change in changes
    )
    return "## Files changed\n\n" + "\n".join(lines)


def _quoted(text: str) -> str:
    """The text as a quotation: it may be Markdown, but what it opens ends with it."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _code(text: str) -> str:
    """The text in one line, as it is."""
    line = visible(clean(text)).replace("\n", " ")
    ticks = "`" * (line.count("`") + 1)
    return f"{ticks} {line} {ticks}" if "`" in line else f"`{line}`"


_MARKDOWN = Form(
    prompt=lambda text: f"## You\n\n{fenced(text)}",
    answer=lambda text: f"## Agent\n\n{_quoted(text)}",
    thought=lambda text: f"### Thought\n\n{_quoted(text)}",
    plan=_plan,
    notice=lambda notice: f"### Notice\n\n{_quoted(f'{notice.title}. {notice.text}')}",
    compaction=_compaction,
    tool=_tool,
)
