"""Compacts the context of a session when it is due, and says so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from hermes_acp.agent.context_engine import Compaction, Context, ContextEngine, ContextTooLarge, Moment
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.gauge import size_of_messages
from hermes_acp.agent.history import repair
from hermes_acp.agent.overflow import told_limit
from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.errors import HermesError, ProviderError, TurnCancelled
from hermes_acp.events import CompactionBegun, CompactionFailed, ContextCompacted, Notice, StatusChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message

MOST_IN_VAIN = 2
"""After so many compactions in a row that came to nothing, none is begun unasked any more."""

_ASSUMED = 0.75
"""The part of what was sent that is taken for the window, when a provider refused it without telling the limit."""

_FAILED = "The context could not be compacted"
_NO_MORE = " It is not tried again unasked; /compact does."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Room:
    """What a conversation has to fit into: the window of its model, less what is around the messages, in tokens."""

    model: str
    window: int
    around: int


@dataclass(frozen=True, slots=True)
class Compactor:
    """Compacts one conversation by an engine; `ask` puts its questions to the model that summarises, `used` is told how
    many tokens the context has afterwards."""

    engine: ContextEngine
    talk: Conversation
    host: RecordedHost
    ask: Callable[[str], Awaitable[str]]
    used: Callable[[int], None]

    async def when_due(self, room: Room, moment: Moment) -> None:
        """Compact if the engine says that it is time. A failure is told and changes nothing.

        Raises:
            StoreError: what was compacted could not be stored.
        """
        used = room.around + self.talk.gauge.tokens(self.talk.gauge.size_of(self.talk.messages))
        if self.talk.gauge.in_vain >= MOST_IN_VAIN or not self.engine.is_due(used, room.window, moment):
            return
        try:
            if not await self.now(room):
                self._tell_vain()
        except (ProviderError, ContextTooLarge) as error:
            log.warning("the context was not compacted: %s", error)
            if moment == "turn_end" and isinstance(error, ContextTooLarge):
                return  # A long answer is among what can be left out once there is a prompt after it.
            self.talk.gauge.in_vain += 1
            self._tell_failure(error)

    async def after_refusal(self, room: Room, error: ProviderError) -> None:
        """Compact because the provider refused the prompt as too long.

        Raises:
            ProviderError: this error, when nothing can be done about it, with the reason.
            StoreError: what was compacted could not be stored.
        """
        used = room.around + self.talk.gauge.tokens(self.talk.gauge.size_of(self.talk.messages))
        limit = told_limit(str(error)) or min(round(used * _ASSUMED), room.window or used)
        self.talk.gauge.limits[room.model] = limit
        try:
            if await self.now(Room(room.model, limit, room.around)):
                return
        except HermesError as reason:
            raise ProviderError(f"{error} {reason}", kind="context_overflow", status=error.status) from None
        raise error

    async def now(self, room: Room, focus: str = "") -> bool:
        """Compact now; whether the context has become smaller.

        Args:
            room: what it is to fit into.
            focus: what the person wants to be kept.

        Raises:
            ContextTooLarge: what has to stay does not fit.
            ProviderError: the model did not summarise; nothing has changed.
            StoreError: what was compacted could not be stored.
        """
        self.host.emit(StatusChanged("compressing", "Compacting the context."))
        compaction_id = new_id("compaction")
        self.host.emit(CompactionBegun(compaction_id))
        try:
            compacted = await self._compacted(room, focus)
        except BaseException as error:
            self.host.emit(CompactionFailed(compaction_id, _reason(error)))
            raise
        if compacted is None:
            self.talk.gauge.in_vain += 1
            self.host.emit(CompactionFailed(compaction_id, "There is nothing to leave out."))
            return False
        compaction, outcome = compacted
        self.talk.gauge.in_vain = 0
        self.talk.replace(compaction.messages)
        await self.host.acknowledge(replace(outcome, compaction_id=compaction_id))
        self.used(outcome.after)
        self.host.emit(StatusChanged("compressing", f"Compacted: {outcome.before} → {outcome.after} tokens."))
        return True

    async def _compacted(self, room: Room, focus: str) -> tuple[Compaction, ContextCompacted] | None:
        """What the engine makes of the conversation; None when that is not smaller."""
        messages = repair(self.talk.messages)
        before = room.around + self._count(messages)
        context = Context(messages, room.around, room.window, self._count, self.ask, focus)
        compaction = await self.engine.compact(context)
        if compaction is None:
            return None
        after = room.around + self._count(compaction.messages)
        return (compaction, ContextCompacted(before, after, compaction.summary)) if after < before else None

    def _count(self, messages: Sequence[Message]) -> int:
        return self.talk.gauge.tokens(size_of_messages(messages))

    def _tell_failure(self, error: HermesError) -> None:
        more = _NO_MORE if self.talk.gauge.in_vain >= MOST_IN_VAIN else ""
        self.host.emit(Notice("warning", _FAILED, f"{error} Nothing was changed.{more}"))

    def _tell_vain(self) -> None:
        if self.talk.gauge.in_vain == MOST_IN_VAIN:
            self.host.emit(Notice("warning", _FAILED, f"There is nothing to leave out.{_NO_MORE}"))


def _reason(error: BaseException) -> str:
    """Why a compaction came to nothing; "" when it was cancelled."""
    match error:
        case asyncio.CancelledError() | TurnCancelled():
            return ""
        case HermesError():
            return str(error)
        case _:
            return "An internal error; the log has the details."
