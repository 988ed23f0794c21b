"""Where the facts of a conversation are noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Unpack

from hermes_acp.agent.store.records import Changes
from hermes_acp.events import Event
from hermes_acp.messages import Message


class Record(Protocol):
    """What a conversation and its host note in: the store's `Journal`, or what stands in its place.

    Noting never waits; `commit` writes what was noted.
    """

    @property
    def segment_id(self) -> str: ...

    @property
    def settled(self) -> bool: ...

    def begin_turn(self) -> int: ...

    def add_message(self, message: Message) -> None: ...

    def add_event(self, event: Event) -> None: ...

    def drop_turn(self) -> None: ...

    def begin_segment(self, messages: Sequence[Message], of_turn: int = 0) -> None: ...

    def update(self, **changes: Unpack[Changes]) -> None: ...

    async def commit(self, durable: bool = False) -> None: ...
