"""Runs the tool calls of one reply: each is judged alone, in call order; approved ones run together."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import field

from hermes_acp.agent.asking import refusal_of
from hermes_acp.agent.call_cards import CallCards
from hermes_acp.agent.conversation import Conversation, Toolbox
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.segments import Resolved, segments
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError, TurnCancelled, Unfinished
from hermes_acp.events import ToolOutcome, ToolStarted
from hermes_acp.hooks import HookedCall, Hooks, NoHooks
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import ToolCall, ToolMessage
from hermes_acp.tools.base import Action, ToolContext

MOST_CALLS = 128
"""So many calls of one reply are run; the rest are answered with an error."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Step:
    """The calls of one reply on the way to their results.

    A caller that is cancelled still finds in `cards` what was done, and `close` answers the rest.
    """

    calls: tuple[ToolCall, ...]
    toolbox: Toolbox
    talk: Conversation
    host: RecordedHost
    hooks: Hooks = field(default_factory=NoHooks)
    understood: bool = False
    """Whether at least one call named a tool and gave it fitting arguments."""
    cards: CallCards = field(init=False)
    _refused: dict[str, ToolResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cards = CallCards(self.toolbox, self.talk, self.host)

    async def run(self) -> None:
        """Run every call.

        Raises:
            TurnCancelled: the person answered a question by cancelling; the calls left are not run.
        """
        resolved = [entry for call in self.calls[:MOST_CALLS] if (entry := self._resolve(call))]
        self.understood = bool(resolved)
        await self._refuse_next()
        for segment in segments(resolved, self.talk.workspace):
            await self._run_segment(segment)
        await self.close(f"Not run: at most {MOST_CALLS} calls can be made in one reply.")

    async def close(self, reason: str) -> None:
        """Answer every call that has no result yet.

        Raises:
            StoreError: an answer could not be stored; every call has one all the same.
        """
        await self.cards.cut_off(self.calls, reason)

    def outcomes(self) -> tuple[ToolOutcome, ...]:
        """Name and outcome of each call, in call order."""
        return tuple(ToolOutcome(call.name, self.cards.results[call.id].is_error) for call in self.calls)

    def ordered_results(self) -> list[ToolMessage]:
        """The results in call order."""
        return [self.cards.results[call.id] for call in self.calls]

    def _resolve(self, call: ToolCall) -> Resolved | None:
        tool = self.toolbox.get(call.name)
        if call.problem or tool is None:
            self._refused[call.id] = ToolResult(call.problem or self._unknown(call.name), is_error=True)
            return None
        try:
            return Resolved(call, tool, tool.parse(call.arguments))
        except Exception as error:
            self._refused[call.id] = _failure(call, error)
            return None

    async def _refuse_next(self) -> None:
        """End the calls that cannot be made, as far as all calls before them have their cards: a replay shows cards in
        the order in which they were made ready, and that is to be the order of the calls."""
        for call in self.calls:
            if refusal := self._refused.pop(call.id, None):
                await self.cards.end(call, refusal)
            elif not self.cards.has(call):
                return

    def _unknown(self, name: str) -> str:
        return f"There is no tool named {name!r}. The tools are: {', '.join(sorted(self.toolbox))}."

    async def _run_segment(self, segment: Sequence[Resolved]) -> None:
        ready: list[tuple[Resolved, Action]] = []
        for entry in segment:
            if action := await self._prepare(entry):
                ready.append((entry, action))
            await self._refuse_next()
        if len(ready) == 1:
            await self._perform(*ready[0])
            return
        try:
            async with asyncio.TaskGroup() as group:
                for entry, action in ready:
                    group.create_task(self._perform(entry, action))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _prepare(self, entry: Resolved) -> Action | None:
        """Make a call ready and get permission for it; None when it has ended here already."""
        await self.host.ready()
        if veto := await self.hooks.before(self._hooked(entry)):
            await self.cards.end(entry.call, ToolResult(veto, is_error=True))
            return None
        try:
            action = await entry.tool.prepare(entry.args, self._context(entry.call))
        except Exception as error:
            await self.cards.end(entry.call, _failure(entry.call, error))
            return None
        self.cards.prepare(entry, action)
        if refusal := await refusal_of(entry, action, self.talk, self.host):
            await self.cards.end(entry.call, ToolResult(refusal, is_error=True))
            return None
        return action

    def _hooked(self, entry: Resolved) -> HookedCall:
        return HookedCall(entry.tool.name, entry.call.arguments, self.talk.id, str(self.talk.workspace.cwd))

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(call.id, self.talk.workspace, self.cards.output_of(call), self.host)

    async def _perform(self, entry: Resolved, action: Action) -> None:
        if withheld := self.talk.approvals.withheld(action.effect):
            await self.cards.end(entry.call, ToolResult(withheld, is_error=True))
            return
        await self.host.stored()
        self.host.emit(ToolStarted(entry.call.id))
        began = time.monotonic()
        try:
            result = await action.run()
        except Unfinished as cancelled:
            self.cards.leave_unfinished(entry.call, str(cancelled))
            raise
        except TurnCancelled:
            raise
        except Exception as error:
            result = _failure(entry.call, error)
        took = time.monotonic() - began
        try:
            await self.hooks.after(self._hooked(entry), result, took)
        finally:
            await self.cards.end(entry.call, result, took)


def _failure(call: ToolCall, error: Exception) -> ToolResult:
    if isinstance(error, ToolError | TimeoutError):
        return ToolResult(str(error) or "It took too long.", is_error=True)
    if isinstance(error, OSError):
        return ToolResult(f"{call.name} failed: {error.strerror or error}", is_error=True)
    log.exception("The tool %s failed in an unforeseen way", call.name)
    return ToolResult(f"{call.name} failed because of an internal error ({type(error).__name__}).", is_error=True)
