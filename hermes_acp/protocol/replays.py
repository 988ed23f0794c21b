"""The replays of one session: what happens while one goes on comes after it, and nothing is told twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hermes_acp.events import CompactionFailed, ContextCompacted, Event, ToolDrafted, ToolFinished, ToolPrepared


class Replays:
    """Keeps the events of a running turn back while the session's past is shown."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._held: list[Event] | None = None
        self._ended: set[str] = set()

    @asynccontextmanager
    async def one(self, show: Callable[[Event], None]) -> AsyncIterator[None]:
        """A block that is a replay; what was kept back in it is shown when it is over."""
        async with self._one_at_a_time:
            self._held = []
            self._ended.clear()
            try:
                yield
            finally:
                held, self._held = self._held, None
                for event in held:
                    show(event)

    async def over(self) -> None:
        """Wait until nothing is kept back."""
        if self._held is not None:
            async with self._one_at_a_time:
                pass

    def note(self, event: Event) -> None:
        """The replay has shown this."""
        if end := _end_of(event):
            self._ended.add(end)

    def take(self, event: Event) -> bool:
        """Whether an event is not to be shown now: it is kept back, or an end that was stored, and so replayed, before
        it is told."""
        if self._held is not None:
            self._held.append(event)
            return True
        if isinstance(event, ToolDrafted | ToolPrepared):
            self._ended.discard(event.call_id)
        return _end_of(event) in self._ended


def _end_of(event: Event) -> str:
    """The id of the card that an event ends; "" for any other."""
    match event:
        case ToolFinished(call_id):
            return call_id
        case ContextCompacted() | CompactionFailed():
            return event.compaction_id
        case _:
            return ""
