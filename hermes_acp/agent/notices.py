"""What a model is told while a turn runs: how much of its calls and of its window is used up.

Such notes go with one request and are never kept (spec: agent loop, 3.6).
"""

from __future__ import annotations

from collections.abc import Iterator

CALLS = (
    (90, "Do not begin anything new: finish what is half done and answer with what was done and what is left."),
    (70, "Work towards an end; leave out what the task does not need."),
)
"""Percent of a turn's model calls, and what is said from there on; the highest first."""

CONTEXT = (
    (75, "Read only what you cannot do without, and in small parts."),
    (40, "Keep what you read and print short."),
)
"""Percent of the model's window, and what is said from there on; the highest first."""


def notes_for(calls: int, max_calls: int, used: int, window: int) -> tuple[str, ...]:
    """The notes for a turn's next model call.

    Args:
        calls, max_calls: model calls made in the turn, and allowed.
        used, window: tokens in the context, and how many the model can hold (0: not known).
    """
    return tuple(_notes(calls, max_calls, used, window))


def mark_reached(calls: int, max_calls: int) -> str:
    """What the person is told when the last call has reached a mark; "" when it has not."""
    for percent, _ in CALLS:
        if (calls - 1) * 100 < percent * max_calls <= calls * 100 < max_calls * 100:
            return f"{calls} of {max_calls} model calls of this turn are used."
    return ""


def _notes(calls: int, max_calls: int, used: int, window: int) -> Iterator[str]:
    for percent, advice in CALLS:
        if percent * max_calls <= calls * 100 < max_calls * 100:
            yield f"[Budget: {calls} of {max_calls} model calls of this turn are used. {advice}]"
            break
    for percent, advice in CONTEXT:
        if window and percent * window <= used * 100:
            yield f"[Context: about {used * 100 // window} % of the window is used. {advice}]"
            break
