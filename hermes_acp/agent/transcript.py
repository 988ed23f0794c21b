"""What a person is shown of the past, put in order for showing it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hermes_acp.agent.history import INTERRUPTED_RESULT
from hermes_acp.cards import ToolResult
from hermes_acp.events import Event, ToolFinished, ToolPrepared, UserPrompted


def with_ended_cards(events: Iterable[Event]) -> Iterator[Event]:
    """The events of turns that are over, with an end for each card that has none: the program was killed
    before it came to that."""
    open_cards: dict[str, ToolPrepared] = {}
    yield from _with_ends(events, open_cards)
    yield from _ends(open_cards)


def with_ended_past(events: Iterable[Event]) -> Iterator[Event]:
    """As `with_ended_cards`, while the last turn runs: its cards are still to end."""
    yield from _with_ends(events, {})


def _with_ends(events: Iterable[Event], open_cards: dict[str, ToolPrepared]) -> Iterator[Event]:
    for event in events:
        match event:
            case ToolPrepared():
                open_cards[event.call_id] = event
            case ToolFinished():
                open_cards.pop(event.call_id, None)
            case UserPrompted():
                yield from _ends(open_cards)
        yield event


def _ends(open_cards: dict[str, ToolPrepared]) -> list[Event]:
    result = ToolResult(INTERRUPTED_RESULT, is_error=True)
    ends: list[Event] = [ToolFinished(card.call_id, card.name, result) for card in open_cards.values()]
    open_cards.clear()
    return ends
