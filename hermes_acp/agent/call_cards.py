"""The cards and results of the calls of one reply: each call has one card, and one result in both records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from hermes_acp.agent.conversation import Conversation, Toolbox
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.segments import Resolved
from hermes_acp.cards import ToolResult
from hermes_acp.events import ToolFinished, ToolOutput, ToolPrepared
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.confidential import blotted, discreet
from hermes_acp.messages import ToolCall, ToolMessage
from hermes_acp.tools.base import Action
from hermes_acp.workspace import Show


@dataclass(slots=True)
class CallCards:
    """What was shown of the calls so far; `results` fills as calls end, whatever their order."""

    toolbox: Toolbox
    talk: Conversation
    host: RecordedHost
    results: dict[str, ToolMessage] = field(default_factory=dict)
    _prepared: set[str] = field(default_factory=set)
    _shown: dict[str, str] = field(default_factory=dict)
    _unfinished: dict[str, str] = field(default_factory=dict)

    def has(self, call: ToolCall) -> bool:
        """Whether a call has its card."""
        return call.id in self._prepared

    def prepare(self, entry: Resolved, action: Action) -> None:
        """Show the card of a call that was made ready."""
        call, tool = entry.call, entry.tool
        self._prepared.add(call.id)
        prepared = ToolPrepared(
            call.id, tool.name, tool.kind, action.title, call.arguments, action.locations, action.diffs
        )
        self.host.emit(prepared)

    def output_of(self, call: ToolCall) -> Show:
        """What shows the output of a call while it runs."""

        def show(text: str, terminal_id: str | None = None) -> None:
            text = blotted(text)
            self._shown[call.id] = text
            self.host.emit(ToolOutput(call.id, text, terminal_id))

        return show

    def leave_unfinished(self, call: ToolCall, why: str) -> None:
        """Know of a call that was cancelled what `cut_off` is to say of it."""
        self._unfinished[call.id] = why

    async def end(self, call: ToolCall, result: ToolResult, duration_s: float = 0.0) -> None:
        """End a call.

        Raises:
            StoreError: its result could not be stored; it has one all the same.
        """
        await self.host.acknowledge(self._ended(call, result, duration_s))

    async def cut_off(self, calls: Iterable[ToolCall], reason: str) -> None:
        """End those of these calls that have no result yet, with what they had shown.

        Raises:
            StoreError: an answer could not be stored; every call has one all the same.
        """
        left = [call for call in calls if call.id not in self.results]
        results = [self._cut_off(call, self._unfinished.get(call.id, reason)) for call in left]
        await self.host.acknowledge(*map(self._ended, left, results))

    def _cut_off(self, call: ToolCall, reason: str) -> ToolResult:
        """The result of a call that did not end: what it had shown, and why there is no more."""
        shown = self._shown.get(call.id, "").rstrip()
        return ToolResult(f"{shown}\n[{reason}]" if shown else reason, is_error=True)

    def _ended(self, call: ToolCall, result: ToolResult, duration_s: float = 0.0) -> ToolFinished:
        """The end of a call, with its result in the records; to be shown once it is stored."""
        result = discreet(result)
        message = ToolMessage(call.id, call.name, result.text, result.is_error, result.images)
        self.results[call.id] = message
        self.talk.keep_result(message)
        if call.id not in self._prepared:
            self._prepared.add(call.id)
            self.host.emit(self._bare_card(call))
        return ToolFinished(call.id, call.name, result, duration_s)

    def _bare_card(self, call: ToolCall) -> ToolPrepared:
        tool = self.toolbox.get(call.name)
        kind, title = (tool.kind, tool.label) if tool else ("other", call.name)
        return ToolPrepared(call.id, call.name, kind, title or "?", call.arguments)
