"""The terminal as a host: events become text, questions become keys and lines."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from hermes_acp.agent.trust import TRUST
from hermes_acp.approval_rules import Rule
from hermes_acp.chat.calls import EndedCall, outcome, whole
from hermes_acp.chat.live import Live
from hermes_acp.chat.surface import Surface
from hermes_acp.errors import HermesError, TurnCancelled
from hermes_acp.events import (
    CompactionBegun,
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    ReasoningDelta,
    StatusChanged,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
    UsageChanged,
    UserPrompted,
)
from hermes_acp.host import Answer, ApprovalRequest, Decision, Question
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import counted, visible
from hermes_acp.tools.approval import lasting_rules

MOST_CALLS = 50
"""So many calls can be shown again."""

MOST_DIFF_LINES = 60
"""Of an edit that nobody was asked about."""

_DOING = {"thinking": "Thinking", "calling": "Writing a call", "executing": "Working", "compressing": "Compacting"}
_COMMENT = "comment"

_TRUST_KEYS = {"y": "session", "a": "good", "n": "no", "v": "never"}
_OF_TRUST: Mapping[str, Decision] = {
    "session": "allow_once",
    "good": "allow_always",
    "no": "reject_once",
    "never": "reject_always",
}
"""What is asked about what a project brings, by key, and what it means."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Card:
    """A call that has not ended. `shown`: whether its edits were shown already."""

    prepared: ToolPrepared
    shown: bool = False


@dataclass(slots=True)
class TerminalHost:
    """Turns on a screen.

    `root` is the folder that paths are shown from, `timeout` the seconds that an answer is waited for (0: for ever).
    `keep` writes rules that are to hold for good; None when there is no place for them. `used` is told of the context,
    `switched` of another model that answers.
    """

    screen: Surface
    root: str = ""
    timeout: float = 0.0
    keep: Callable[[Sequence[Rule]], None] | None = None
    used: Callable[[UsageChanged], None] = lambda event: None
    switched: Callable[[str], None] = lambda model: None
    live: Live | None = None
    ended: deque[EndedCall] = field(default_factory=lambda: deque(maxlen=MOST_CALLS))
    _message: str = ""
    _cards: dict[str, Card] = field(default_factory=dict)
    _apart: bool = True
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self) -> None:
        """A turn begins."""
        self.live = Live()
        self.screen.refresh()

    def end(self) -> None:
        """The turn has ended; nothing of it moves any more."""
        self._end_text()
        self.live = None
        self._cards.clear()
        self.screen.refresh()

    def say(self, text: str) -> None:
        """Write a block of text, apart from what stands above it."""
        self._write(text, apart=True)

    def show_call(self, number: int) -> None:
        """Show one of the calls that have ended as a whole: 1 for the last, 2 for the one before it."""
        pen = self.screen.pen
        if not self.ended:
            self.say(pen.quiet("There is no call yet to show."))
        elif not 0 < number <= len(self.ended):
            self.say(pen.quiet(f"There are {counted(len(self.ended), 'call')} to show; 1 is the last."))
        else:
            self.say(whole(pen, self.ended[-number], self.root))

    def emit(self, event: Event) -> None:
        match event:
            case TextDelta(text, message_id):
                self._stream(text, message_id)
            case ReasoningDelta(text):
                self._now().think(text)
            case UserPrompted(message):
                self._end_text()
                self.say(self.screen.pen.said(message.text))
            case ToolDrafted() | ToolPrepared() | ToolStarted() | ToolOutput() | ToolFinished():
                self._end_text()
                self._tool(event)
            case PlanChanged(entries):
                self._write(self.screen.pen.plan(entries))
            case StatusChanged(kind, text):
                self._now().doing = text or _DOING.get(kind, "")
            case UsageChanged():
                self.used(event)
            case _:
                self._tell(event)
        self.screen.refresh()

    async def ready(self) -> None:
        """What was written is on the terminal already."""
        await asyncio.sleep(0)

    async def approve(self, request: ApprovalRequest) -> Answer:
        async with self._asking:
            self._end_text()
            self.say(self.screen.pen.request(request, self.root))
            if card := self._cards.get(request.call_id):
                self._cards[request.call_id] = Card(card.prepared, shown=bool(request.diffs))
            try:
                async with asyncio.timeout(self.timeout or None):
                    return await self._decide(request)
            except TimeoutError:
                return Answer("unavailable", f"No answer came within {self.timeout:g} seconds.")

    async def clarify(self, question: Question) -> str | None:
        async with self._asking:
            self._end_text()
            self.say(self.screen.pen.question(question.text, question.choices))
            hint = "a number or your own words" if question.choices else "your answer"
            try:
                async with asyncio.timeout(self.timeout or None):
                    said = await self.screen.ask_line(f"{hint} › ")
            except TimeoutError:
                return None
        if said is None:
            raise TurnCancelled("The user ended the turn.")
        answer = chosen(said, question.choices)
        if not self.screen.keeps_typing or answer != said.strip():
            self._write(self.screen.pen.said(answer))
        return answer

    def replay(self, events: Iterable[Event]) -> None:
        """Show what was shown before."""
        for event in events:
            if not isinstance(event, StatusChanged | Notice | ModelSwitched | UsageChanged | ToolOutput):
                self.emit(event)
        self.end()

    async def _decide(self, request: ApprovalRequest) -> Answer:
        if request.tool == TRUST:
            key = await self.screen.ask_key("[y]es, in this session [a]lways [n]ot now ne[v]er ", _TRUST_KEYS)
            return Answer(_OF_TRUST[key] if key else "cancelled")
        lasting = lasting_rules(request) if self.keep and request.always else ()
        keys = {"y": "once", "n": "no", "c": _COMMENT}
        keys |= ({"s": "session"} if request.always else {}) | ({"a": "always"} if lasting else {})
        longer = f"{'[s]ession ' if request.always else ''}{'[a]lways ' if lasting else ''}"
        key = await self.screen.ask_key(f"[y]es {longer}[n]o [c]omment ", keys)
        if key == "always":
            await self._keep_for_good(lasting)
        comment = await self.screen.ask_line("why not › ") if key == _COMMENT else None
        if key is None or (key == _COMMENT and comment is None):
            return Answer("cancelled")
        return Answer(_decision(key), comment or "")

    async def _keep_for_good(self, rules: Sequence[Rule]) -> None:
        assert self.keep is not None
        try:
            await asyncio.to_thread(self.keep, rules)
        except (HermesError, OSError) as error:
            self._write(self.screen.pen.notice("warning", "It holds for this session only", str(error)))
        else:
            self._write(self.screen.pen.quiet("\n".join(f"A rule from now on: {rule.text}" for rule in rules)))

    def _now(self) -> Live:
        return self.live or Live()

    def _stream(self, text: str, message_id: str) -> None:
        if message_id != self._message:
            self._end_text()
            self._message = message_id
        live = self.live = self._now()
        live.thought = ""
        for passage in live.passages.add(text):
            self.say(self.screen.pen.markdown(passage))

    def _end_text(self) -> None:
        self._message = ""
        if self.live is None:
            return
        self.live.thought = ""
        for passage in self.live.passages.end():
            self.say(self.screen.pen.markdown(passage))

    def _tool(self, event: ToolDrafted | ToolPrepared | ToolStarted | ToolOutput | ToolFinished) -> None:
        live = self._now()
        match event:
            case ToolDrafted(title=title, name=name):
                live.doing = f"{title or name} …"
            case ToolPrepared(call_id=call_id):
                self._cards[call_id] = Card(event)
            case ToolStarted(call_id) if card := self._cards.get(call_id):
                live.running[call_id] = visible(card.prepared.title)
            case ToolOutput(call_id, text):
                live.outputs[call_id] = text
            case ToolFinished(call_id=call_id):
                live.running.pop(call_id, None)
                live.outputs.pop(call_id, None)
                self._finish(event, self._cards.pop(call_id, None))

    def _finish(self, event: ToolFinished, card: Card | None) -> None:
        pen, result = self.screen.pen, event.result
        call = EndedCall(event.name, result, event.duration_s, card.prepared if card else None)
        self.ended.append(call)
        if result.diffs and not result.is_error and not (card and card.shown):
            self.say(pen.diffs(result.diffs, self.root, MOST_DIFF_LINES))
        self._write(outcome(pen, call))

    def _tell(self, event: Event) -> None:
        pen = self.screen.pen
        match event:
            case Notice(severity, title, text):
                self._write(pen.notice(severity, title, text))
            case ModelSwitched(model):
                self._tell(event.notice)
                self.switched(model)
            case CompactionBegun():
                self._now().doing = "Compacting the context"
            case ContextCompacted(before, after):
                self._write(pen.quiet(f"The context was compacted: {before:,} → {after:,} tokens."))

    def _write(self, text: str, apart: bool = False) -> None:
        if not text:
            return
        self.screen.write(f"\n{text}" if apart or self._apart else text)
        self._apart = apart


def chosen(said: str, choices: Sequence[str]) -> str:
    """The choice whose number was typed, else the words themselves."""
    word = said.strip().rstrip(".)")
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    return choices[number - 1] if 0 < number <= len(choices) else said.strip()


def _decision(key: str) -> Decision:
    return "allow_once" if key == "once" else "allow_always" if key in ("session", "always") else "reject_once"
