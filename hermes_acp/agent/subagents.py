"""Agents that work for a call of another one: where they are shown, what is recorded of them, how they end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Unpack

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.conversation import Conversation, Toolbox
from hermes_acp.agent.expenses import Expenses
from hermes_acp.agent.loop import TurnResult, run_turn
from hermes_acp.agent.providers.counted import Counted
from hermes_acp.agent.record import Record
from hermes_acp.agent.store.records import Changes
from hermes_acp.errors import HermesError, TurnCancelled
from hermes_acp.events import (
    Event,
    ModelSwitched,
    Notice,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
)
from hermes_acp.host import Answer, ApprovalRequest, Host, Question
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message, UserMessage

WITHHELD = frozenset({"delegate_task", "clarify", "leave_plan_mode", "memory", "todo"})
"""Tools of the session that its subagents have not, or have of their own."""

SHOWN_WORDS = 2_000
"""So many characters of each subagent's words are shown while it works, the last ones."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a subagent's cards and questions from others: the call it works for, and its number in it."""

    call_id: str
    number: int

    def id(self, call_id: str) -> str:
        """The id of one of its calls, as the person's side knows it."""
        return f"{self.call_id}.{self.number}.{call_id}"

    def title(self, title: str) -> str:
        return f"[{self.number}] {title}"

    def shown(self, event: Event) -> Event | None:
        """The event as it is shown and recorded; None for what concerns nobody but the subagent: its words, its
        plan, how much context it has left."""
        match event:
            case ToolDrafted() | ToolPrepared():
                return replace(event, call_id=self.id(event.call_id), title=self.title(event.title))
            case ToolStarted() | ToolOutput() | ToolFinished():
                return replace(event, call_id=self.id(event.call_id))
            case Notice():
                return replace(event, title=self.title(event.title))
            case ModelSwitched():
                return self.shown(event.notice)
            case _:
                return None


@dataclass(slots=True)
class Questions:
    """The questions of all subagents of a call: one is open at a time, and none after the turn was ended by one."""

    audience: Host
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ended: bool = False

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Ask when it is this question's turn."""
        async with self._turn:
            if self._ended:
                return Answer("cancelled")
            answer = await self.audience.approve(request)
            self._ended = answer.decision == "cancelled"
            return answer


@dataclass(frozen=True, slots=True)
class SubagentHost:
    """The person as a subagent meets them. `say` takes its words."""

    mark: Mark
    audience: Host
    questions: Questions
    say: Callable[[TextDelta], None]

    def emit(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self.say(event)
        elif shown := self.mark.shown(event):
            self.audience.emit(shown)

    async def ready(self) -> None:
        await self.audience.ready()

    async def approve(self, request: ApprovalRequest) -> Answer:
        title, call_id = self.mark.title(request.title), self.mark.id(request.call_id)
        return await self.questions.approve(replace(request, call_id=call_id, title=title))

    async def clarify(self, question: Question) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class SubagentRecord:
    """Keeps of a subagent what the person is shown, in the record of the session it works for. Its messages end
    with its task."""

    mark: Mark
    session: Record

    @property
    def segment_id(self) -> str:
        return self.session.segment_id

    @property
    def settled(self) -> bool:
        return self.session.settled

    def begin_turn(self) -> int:
        return 0

    def add_message(self, message: Message) -> None:
        """Not kept."""

    def add_event(self, event: Event) -> None:
        if shown := self.mark.shown(event):
            self.session.add_event(shown)

    def drop_turn(self) -> None:
        """Nothing of it was kept."""

    def begin_segment(self, messages: Sequence[Message], of_turn: int = 0) -> None:
        """Not kept."""

    def update(self, **changes: Unpack[Changes]) -> None:
        """A subagent is no session of its own."""

    async def commit(self, durable: bool = False) -> None:
        await self.session.commit()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a task ended: what its subagent said last, or why there is nothing."""

    text: str
    failed: bool = False


@dataclass(slots=True)
class Words:
    """The last words of each subagent, as the card of the call shows them while they work."""

    show: Callable[[str], None]
    _texts: dict[int, str] = field(default_factory=dict)
    _messages: dict[int, str] = field(default_factory=dict)

    def say(self, number: int, delta: TextDelta) -> None:
        """Show more of what one of them says."""
        before = self._texts.get(number, "")
        if before and self._messages.get(number) != delta.message_id:
            before += "\n\n"
        self._messages[number] = delta.message_id
        self._texts[number] = (before + delta.text)[-SHOWN_WORDS:]
        self.show("\n\n".join(f"[{number}] {text}" for number, text in sorted(self._texts.items())))


@dataclass(frozen=True, slots=True)
class Delegation:
    """A call that gives tasks away: the conversation it is made in, who answers there, its id, who is shown what
    happens, where the subagents' words go, and the tools that each of them has of its own."""

    talk: Conversation
    agent: Agent
    call_id: str
    audience: Host
    words: Words
    own_tools: Callable[[], Toolbox]

    async def run(self, prompts: Sequence[UserMessage]) -> list[Ending]:
        """Give each prompt to a subagent of its own, all at once, and wait for all of them.

        They work in the session's folders, under its mode, rules and answers. A cancellation ends them all.

        Raises:
            TurnCancelled: the person ended the turn by an answer to one of them.
        """
        questions = Questions(self.audience)
        with self.talk.approvals.within_turn():
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._run_one(Mark(self.call_id, number), prompt, questions))
                        for number, prompt in enumerate(prompts, 1)
                    ]
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _run_one(self, mark: Mark, prompt: UserMessage, questions: Questions) -> Ending:
        if spent := self.talk.expenses.purse.used_up(self.agent.max_cost):
            return Ending(f"It was not begun, since the turn may cost no more: {spent} are spent.", failed=True)
        provider = Counted(self.agent.provider)
        most = min(self.agent.max_subagent_calls, self.agent.max_calls)
        talk = self._conversation(mark)
        host = SubagentHost(mark, self.audience, questions, lambda delta: self.words.say(mark.number, delta))
        try:
            result = await run_turn(replace(self.agent, provider=provider, max_calls=most), talk, prompt, host)
        except TurnCancelled:
            raise
        except HermesError as error:
            return Ending(f"It failed: {error}", failed=True)
        except Exception as error:
            log.exception("A subagent failed in an unforeseen way")
            reason = f"It failed because of an internal error ({type(error).__name__})."
            return Ending(reason, failed=True)
        finally:
            self.talk.take_account(provider.usage, talk.cost)
        return _ending(result)

    def _conversation(self, mark: Mark) -> Conversation:
        """Its messages, its plan and its context are its own, all else is the session's."""
        parent = self.talk
        return Conversation(
            id=mark.id(parent.id),
            workspace=parent.workspace,
            journal=SubagentRecord(mark, parent.journal),
            approvals=parent.approvals,
            system=parent.system,
            thought_level=parent.thought_level,
            toolbox={**_passed_on(parent.toolbox), **self.own_tools()},
            answering=parent.answering,
            expenses=Expenses(lent=parent.expenses.purse),
        )


def _passed_on(toolbox: Toolbox) -> Toolbox:
    return {name: tool for name, tool in toolbox.items() if name not in WITHHELD}


def _ending(result: TurnResult) -> Ending:
    match result.stop:
        case "end_turn":
            return Ending(result.text)
        case "max_tokens":
            return Ending(f"{result.text}\n[Its answer was cut off: the model's limit of output was reached.]")
        case "max_turn_requests":
            calls = result.api_calls
            return Ending(
                f"It used up what it may, with {calls} model calls, before it was done, and says:\n{result.text}",
                failed=True,
            )
        case "refusal":
            return Ending("It failed: the model refused the task.", failed=True)
        case "partial":
            return Ending("It failed: the model gave no usable answer three times in a row.", failed=True)
