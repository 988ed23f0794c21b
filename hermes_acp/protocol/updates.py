"""Events as ACP session updates: one pure function, for live events and replayed ones alike."""

from __future__ import annotations

from typing import Any

from hermes_acp.cards import SHOWN_CHARACTERS, Diff, Location, ToolResult
from hermes_acp.events import (
    CompactionBegun,
    CompactionFailed,
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    ReasoningDelta,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
    UsageChanged,
    UserPrompted,
)
from hermes_acp.messages import Image, Part, Text
from hermes_acp.protocol import outbound
from hermes_acp.text import fenced, head_and_tail

Update = dict[str, Any]


def encode(event: Event) -> list[Update]:
    """The `session/update` payloads that tell an event; none for events that travel another way."""
    match event:
        case TextDelta(text, message_id):
            return [outbound.agent_message_chunk(text, message_id)]
        case ReasoningDelta(text, message_id):
            return [outbound.agent_thought_chunk(text, message_id)]
        case UserPrompted(message, message_id):
            return [outbound.user_message_chunk(_block(part), message_id) for part in message.parts]
        case ToolDrafted():
            return [outbound.tool_call(event.call_id, event.title, name=event.name, kind=event.kind, status="pending")]
        case ToolPrepared():
            return [_prepared(event)]
        case ToolStarted(call_id):
            return [outbound.tool_call_update(call_id, status="in_progress")]
        case ToolOutput(call_id, text, terminal_id):
            return [outbound.tool_call_update(call_id, content=_live(text, terminal_id))]
        case ToolFinished():
            return [_finished(event)]
        case PlanChanged(entries):
            # ACP has no word for a task that was given up: such tasks leave the plan.
            left = [entry for entry in entries if entry.status != "cancelled"]
            return [outbound.plan((entry.content, entry.priority, entry.status) for entry in left)]
        case UsageChanged(used, size, cost):
            return [outbound.usage_update(used, size, cost)]
        case Notice(severity, title, text):
            return [outbound.notice(severity, title, text)]
        case ModelSwitched():
            return encode(event.notice)
        case CompactionBegun(compaction_id):
            return [outbound.compaction_update(compaction_id, "in_progress")]
        case CompactionFailed(compaction_id, reason):
            status = "failed" if reason else "cancelled"
            return [outbound.compaction_update(compaction_id, status, error=reason or None)]
        case ContextCompacted(summary=summary, compaction_id=compaction_id) if compaction_id:
            content = [outbound.text_block(summary)] if summary else None
            return [outbound.compaction_update(compaction_id, "completed", summary=content)]
        case _:
            return []


def as_new_card(update: Update) -> Update:
    """The update of a card that the editor has not seen yet: a `tool_call` instead of a change to one."""
    return {**update, "sessionUpdate": "tool_call"}


def spoken(update: Update) -> str:
    """A notice as text, for an editor that takes no notices."""
    description = update.get("description")
    return f"**{update['title']}.** {description}\n\n" if description else f"**{update['title']}.**\n\n"


def diff_content(diffs: tuple[Diff, ...]) -> list[dict[str, Any]]:
    """Card content that shows edits."""
    return [outbound.diff_content(diff.path, diff.old_text, diff.new_text) for diff in diffs]


def text_content(text: str) -> list[dict[str, Any]]:
    """Card content that shows text as it is, in a fence that nothing in it can close."""
    return [outbound.text_content(fenced(text))]


def locations(places: tuple[Location, ...]) -> list[dict[str, Any]]:
    """ACP's ToolCallLocation list."""
    return [outbound.location(place.path, place.line) for place in places]


def _prepared(event: ToolPrepared) -> Update:
    return outbound.tool_call_update(
        event.call_id,
        title=event.title,
        name=event.name,
        kind=event.kind,
        status="pending",
        locations=locations(event.locations),
        content=diff_content(event.diffs) or None,
        raw_input=dict(event.arguments),
    )


def _live(text: str, terminal_id: str | None) -> list[dict[str, Any]]:
    if terminal_id:
        return [outbound.terminal_content(terminal_id)]
    return text_content(head_and_tail(text, SHOWN_CHARACTERS))


def _finished(event: ToolFinished) -> Update:
    result = event.result
    return outbound.tool_call_update(
        event.call_id,
        status="failed" if result.is_error else "completed",
        content=_outcome(result),
        locations=locations(result.locations) or None,
        raw_output=result.raw if result.raw is not None else {"text": head_and_tail(result.text, SHOWN_CHARACTERS)},
    )


def _outcome(result: ToolResult) -> list[dict[str, Any]]:
    if result.terminal_id:
        return [outbound.terminal_content(result.terminal_id)]
    shown = result.for_person
    if result.diffs and not result.is_error:
        return diff_content(result.diffs)
    return text_content(head_and_tail(shown, SHOWN_CHARACTERS)) if shown.strip() else []


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return outbound.text_block(text)
        case Image(data, mime_type):
            return outbound.image_block(data, mime_type)
