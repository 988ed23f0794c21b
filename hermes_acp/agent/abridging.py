"""What of a tool's doings is kept and shown again: all that fits, and of the rest both ends with a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hermes_acp.agent.store.codec import dump
from hermes_acp.cards import SHOWN_CHARACTERS, Diff, ToolResult
from hermes_acp.events import Event, ToolFinished, ToolPrepared, UserPrompted
from hermes_acp.messages import Image, Part, Text, UserMessage
from hermes_acp.text import head_and_tail

KEPT_OF_DIFF = 100_000
"""What the transcript keeps of one side of an edit."""

REPLAYED_CHARACTERS = 4_000_000
"""What the cards of a replayed session hold together; the text of its messages is always shown whole."""

REPLAYED_PICTURES = 16_000_000
"""What the pictures of replayed prompts hold together, in base64; the newest are shown."""

_CONTEXT = 3


def for_transcript(event: Event) -> Event:
    """The event as it is kept."""
    return _shortened(event, SHOWN_CHARACTERS, KEPT_OF_DIFF)


def for_replay(events: Sequence[Event], budget: int = REPLAYED_CHARACTERS) -> Iterable[Event]:
    """The events with cards that together hold about `budget` characters: the largest are cut, to one size."""
    ended = {event.call_id for event in events if isinstance(event, ToolFinished)}
    # The end of a call takes the place of what its card showed before.
    slim = [
        replace(event, diffs=()) if isinstance(event, ToolPrepared) and event.call_id in ended else event
        for event in events
    ]
    limit = _largest_limit([size for size in map(_size, slim) if size], budget)
    shown = (event if _size(event) <= limit else _shortened(event, limit // 2, limit // 2) for event in slim)
    return _without_older_pictures(list(shown))


def _without_older_pictures(events: list[Event]) -> list[Event]:
    left = REPLAYED_PICTURES
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if isinstance(event, UserPrompted):
            size = sum(len(part.data) for part in event.message.parts if isinstance(part, Image))
            left -= size
            if size and left < 0:
                events[place] = replace(event, message=UserMessage(tuple(map(_named, event.message.parts))))
    return events


def _named(part: Part) -> Part:
    return part if isinstance(part, Text) else Text(f"[A picture ({part.mime_type}), not shown again.]")


def _largest_limit(sizes: Sequence[int], budget: int) -> int:
    """How large each may be, so that all of them fit when the larger ones are cut to it."""
    left = budget
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _size(event: Event) -> int:
    """The characters of a card, about as the wire has them; 0 for what is not cut."""
    match event:
        case ToolPrepared():
            return len(dump(event.arguments)) + _size_of_diffs(event.diffs)
        case ToolFinished(result=result):
            text = len(result.for_person)
            return text * (1 if result.raw is not None else 2) + _size_of_diffs(result.diffs)
        case _:
            return 0


def _size_of_diffs(diffs: Iterable[Diff]) -> int:
    return sum(len(diff.old_text or "") + len(diff.new_text) for diff in diffs)


def _shortened(event: Event, text_limit: int, diff_limit: int) -> Event:
    match event:
        case ToolPrepared():
            diffs = tuple(_short_diff(diff, diff_limit) for diff in event.diffs)
            return replace(event, arguments=_short_arguments(event.arguments, text_limit), diffs=diffs)
        case ToolFinished(result=result):
            return replace(event, result=_short_result(result, text_limit, diff_limit))
        case _:
            return event


def _short_result(result: ToolResult, text_limit: int, diff_limit: int) -> ToolResult:
    return ToolResult(
        head_and_tail(result.for_person, text_limit),
        result.is_error,
        diffs=tuple(_short_diff(diff, diff_limit) for diff in result.diffs),
        locations=result.locations,
        raw=result.raw,
    )


def _short_arguments(arguments: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    if len(dump(arguments)) <= limit:
        return arguments
    cut = {
        name: head_and_tail(value, limit // 2) if isinstance(value, str) else value for name, value in arguments.items()
    }
    size = len(dump(cut))
    return cut if size <= 2 * limit else {"left_out": f"{size} characters of arguments"}


def _short_diff(diff: Diff, limit: int) -> Diff:
    """Of a large change the lines around it, and of these both ends."""
    old, new = diff.old_text, diff.new_text
    if len(old or "") <= limit and len(new) <= limit:
        return diff
    if old is not None:
        old, new = _around_the_change(old, new)
    return Diff(diff.path, None if old is None else head_and_tail(old, limit), head_and_tail(new, limit))


def _around_the_change(old: str, new: str) -> tuple[str, str]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    shorter = min(len(before), len(after))
    head = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    rest = shorter - head
    tail = next((place for place in range(rest) if before[-1 - place] != after[-1 - place]), rest)
    first, last = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    return "".join(before[first : len(before) - last]), "".join(after[first : len(after) - last])
