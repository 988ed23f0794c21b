"""All that was shown in a session, in order, each thing as a form writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from hermes_acp.agent.transcript import with_ended_cards
from hermes_acp.cards import ToolResult
from hermes_acp.events import (
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    PlanEntry,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolPrepared,
    UserPrompted,
)
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Text, UserMessage


@dataclass(frozen=True, slots=True)
class Form:
    """How each thing is written. `tool` is given the title of a call and what it came to."""

    prompt: Callable[[str], str]
    answer: Callable[[str], str]
    thought: Callable[[str], str]
    plan: Callable[[Sequence[PlanEntry]], str]
    notice: Callable[[Notice], str]
    compaction: Callable[[ContextCompacted], str]
    tool: Callable[[str, ToolResult], str]


def written(events: Iterable[Event], form: Form) -> Iterator[str]:
    """A piece of text for everything that a person was shown."""
    titles: dict[str, str] = {}
    for event in with_ended_cards(events):
        match event:
            case ToolPrepared(call_id, title=title):
                titles[call_id] = title
            case ToolFinished(call_id, name, result):
                yield form.tool(titles.get(call_id, name), result)
            case _:
                yield _said(event, form)


def _said(event: Event, form: Form) -> str:
    match event:
        case UserPrompted(message):
            return form.prompt(_in_words(message))
        case TextDelta(text):
            return form.answer(text)
        case ReasoningDelta(text):
            return form.thought(text)
        case PlanChanged(entries):
            return form.plan(entries)
        case Notice():
            return form.notice(event)
        case ModelSwitched():
            return form.notice(event.notice)
        case ContextCompacted():
            return form.compaction(event)
        case _:
            return ""


def _in_words(message: UserMessage) -> str:
    texts = (part.text if isinstance(part, Text) else f"[picture: {part.mime_type}]" for part in message.parts)
    return "\n\n".join(texts)
