"""The editor as a host: events become updates in order, questions become permission requests."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from hermes_acp.agent.providers.base import new_id
from hermes_acp.events import (
    CompactionBegun,
    CompactionFailed,
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    ReasoningDelta,
    StatusChanged,
    StepFinished,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    UserPrompted,
)
from hermes_acp.host import Answer, ApprovalRequest, Question
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol import outbound
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.permission import ask_permission
from hermes_acp.protocol.questions import ask_by_choice, ask_by_form
from hermes_acp.protocol.replays import Replays
from hermes_acp.protocol.updates import as_new_card, encode, spoken

log = logging.getLogger(__name__)

COMPACTIONS = CompactionBegun | CompactionFailed | ContextCompacted

OUTPUT_SECONDS = 0.1
STATUS_SECONDS = 0.25
STATUSES_A_SECOND = 4


@dataclass(frozen=True, slots=True)
class Manner:
    """How one editor is talked to: what it can take, and what the person wants."""

    client: ClientCapabilities
    announce: bool = True
    approval_timeout: float = 0.0


class EditorHost:
    """One session, as its editor sees it.

    Deltas that arrive within one pass of the loop leave as one chunk; live output leaves at most ten times
    a second, the latest only; everything else leaves at once and never overtakes what came before. `switched` is
    told which model answers from here on.
    """

    def __init__(self, session_id: str, peer: Peer, manner: Manner) -> None:
        self._session_id = session_id
        self._peer = peer
        self._manner = manner
        self._pieces: list[str] = []
        self._open: TextDelta | ReasoningDelta | None = None
        self._cards: set[str] = set()
        self._outputs: dict[str, ToolOutput] = {}
        self._replays = Replays()
        self.switched: Callable[[str], None] = lambda model: None
        self._status = _Paced(STATUS_SECONDS, self._send_status)

    def emit(self, event: Event) -> None:
        if not self._replays.take(event):
            self._show(event)

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta() | ReasoningDelta():
                self._gather(event)
            case ToolOutput(terminal_id=None):
                self._later(event)
            case StatusChanged():
                if self._manner.announce:
                    self._status.put(event)
            case StepFinished():
                self._send_step(event)
            case UserPrompted():
                pass
            case ModelSwitched():
                self._send(event)
                self.switched(event.model)
            case _:
                self._send(event)

    @asynccontextmanager
    async def replaying(self) -> AsyncIterator[None]:
        """A block in which the editor is shown the whole session anew: it knows none of its cards."""
        async with self._replays.one(self.emit):
            self._flush_shown()
            self._cards.clear()
            yield

    async def replay(self, event: Event) -> None:
        """Send an event of the past, and wait until the reader keeps up. What was live only is not repeated (ACP:
        notices), and every card is a new one: the editor shows them in another place than before."""
        if isinstance(event, ToolPrepared):
            self._cards.discard(event.call_id)
        if not isinstance(event, Notice | ModelSwitched):
            self._send(event)
            self._replays.note(event)
        await self._peer.drained()

    async def caught_up(self) -> None:
        """Wait until the editor has been sent all that was emitted."""
        await self._replays.over()
        self.flush()

    def update(self, update: dict[str, Any]) -> None:
        """Send one update as it is, after everything before it."""
        self._flush_shown()
        self._peer.notify("session/update", outbound.update(self._session_id, update))

    def flush(self) -> None:
        """Send what waits: the text gathered so far, live output, the last status. A prompt is being answered."""
        self._flush_shown()
        self._status.flush()

    def _flush_shown(self) -> None:
        self._flush_text()
        for output in list(self._outputs.values()):
            self._flush_output(output.call_id)

    async def ready(self) -> None:
        await self._replays.over()
        await self._peer.drained()

    async def approve(self, request: ApprovalRequest) -> Answer:
        await self._replays.over()
        self._flush_shown()
        return await ask_permission(self._peer, self._session_id, request, self._manner.approval_timeout)

    async def clarify(self, question: Question) -> str | None:
        await self._replays.over()
        self._flush_shown()
        if self._manner.client.forms:
            return await ask_by_form(self._peer, self._session_id, question, self._manner.approval_timeout)
        if question.choices:
            return await ask_by_choice(self._peer, self._session_id, question, self._manner.approval_timeout)
        return None

    def _gather(self, event: TextDelta | ReasoningDelta) -> None:
        if self._open is None or self._open.message_id != event.message_id:
            self._flush_text()
            self._open = event
            asyncio.get_running_loop().call_soon(self._flush_text)
        self._pieces.append(event.text)

    def _flush_text(self) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        kind = TextDelta if isinstance(opened, TextDelta) else ReasoningDelta
        self._notify(encode(kind(text, opened.message_id)))

    def _later(self, event: ToolOutput) -> None:
        if event.call_id not in self._outputs:
            asyncio.get_running_loop().call_later(OUTPUT_SECONDS, self._flush_output, event.call_id)
        self._outputs[event.call_id] = event

    def _flush_output(self, call_id: str) -> None:
        if output := self._outputs.pop(call_id, None):
            self._flush_text()
            self._notify(encode(output))

    def _send(self, event: Event) -> None:
        self._flush_text()
        if isinstance(event, ToolFinished):
            self._outputs.pop(event.call_id, None)
        if isinstance(event, COMPACTIONS) and not self._manner.client.compaction:
            return
        updates = encode(event)
        if isinstance(event, ToolDrafted | ToolPrepared):
            updates = [self._card(event.call_id, update) for update in updates]
        if isinstance(event, Notice | ModelSwitched) and not self._manner.client.notices:
            updates = [_as_message(update) for update in updates]
        self._notify(updates)

    def _card(self, call_id: str, update: dict[str, Any]) -> dict[str, Any]:
        if call_id in self._cards:
            return update
        self._cards.add(call_id)
        return as_new_card(update)

    def _notify(self, updates: list[dict[str, Any]]) -> None:
        for update in updates:
            self._peer.notify("session/update", outbound.update(self._session_id, update))

    def _send_status(self, event: StatusChanged) -> None:
        self._peer.notify("_hermes/status", outbound.status(self._session_id, event.kind, event.text))

    def _send_step(self, event: StepFinished) -> None:
        if not self._manner.announce:
            return
        self._flush_shown()
        tools = [{"name": tool.name, "isError": tool.is_error} for tool in event.tools]
        self._peer.notify("_hermes/step", outbound.step(self._session_id, event.api_calls, event.max_api_calls, tools))


def _as_message(notice: dict[str, Any]) -> dict[str, Any]:
    return outbound.agent_message_chunk(spoken(notice), new_id("msg"))


class _Paced:
    """Passes on at most one status in `seconds`, the latest; the last one always.

    One that has something to say is not passed over for one that has not: a retry or a mark of the budget would
    else be gone before anyone saw it.
    """

    def __init__(self, seconds: float, send: Callable[[StatusChanged], None]) -> None:
        self._seconds = seconds
        self._send = send
        self._waiting: list[StatusChanged] = []
        self._timer: asyncio.TimerHandle | None = None
        self._sent: deque[float] = deque([0.0], maxlen=STATUSES_A_SECOND)

    def put(self, value: StatusChanged) -> None:
        if self._waiting and not self._waiting[-1].text:
            self._waiting.pop()
        self._waiting = [*self._waiting[1 - STATUSES_A_SECOND :], value]
        self._wait()

    def flush(self) -> None:
        """Send what waits, as far as it may go out now, and the last one in any case."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lately = sum(at > time.monotonic() - 1 for at in self._sent)
        self._waiting = self._waiting[-max(STATUSES_A_SECOND - lately, 1) :]
        while self._waiting:
            self._send_one()

    def _wait(self) -> None:
        if self._timer is None:
            wait = max(0.0, self._sent[-1] + self._seconds - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self._due)

    def _due(self) -> None:
        self._timer = None
        self._send_one()
        if self._waiting:
            self._wait()

    def _send_one(self) -> None:
        self._sent.append(time.monotonic())
        self._send(self._waiting.pop(0))
