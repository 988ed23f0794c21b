"""The turn: ask the model, run its tools, and again, until it answers in words."""

from __future__ import annotations

import logging
from typing import Literal

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.asking import CANCELLED
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.execution import Step
from hermes_acp.agent.history import without_blank_parts
from hermes_acp.agent.model_calls import ModelCalls
from hermes_acp.agent.providers.base import Reply, Usage, new_id
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.errors import ProviderError
from hermes_acp.events import StatusChanged, StepFinished, TextDelta, UserPrompted
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import finishing, surely
from hermes_acp.messages import AssistantMessage, ToolMessage, UserMessage

log = logging.getLogger(__name__)

Stop = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "partial"]

MAX_USELESS_REPLIES = 3
"""So many replies in a row that neither answer nor call a tool rightly end the turn."""

_EMPTY_REPLY = "Your last reply was empty. Answer the user, or call a tool."
_BUDGET_USED = (
    "What this turn may use is used up: {}. Do not call tools. "
    "Summarise for the user what was done, what was found and what is left to do."
)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended. `text` is the final answer; `usage` sums the turn's model calls, those of
    its subagents included; `api_calls` counts its own."""

    stop: Stop
    text: str
    api_calls: int
    usage: Usage


async def run_turn(
    agent: Agent, talk: Conversation, prompt: UserMessage, host: Host, typed: UserMessage | None = None
) -> TurnResult:
    """Answer one prompt.

    Args:
        agent: what answers.
        talk: the conversation; it is valid and stored whatever happens here.
        prompt: what the person said.
        host: where the turn is shown and its questions are asked.
        typed: what the person is shown to have said, when that is not the prompt itself.

    Raises:
        ProviderError: the model could not answer.
        TurnCancelled: the person ended the turn by an answer.
        StoreError: the turn could not be stored.
        asyncio.CancelledError: the turn's task was cancelled.
    """
    stage = _begin(talk, prompt, host, typed)
    async with finishing(lambda: _close(talk, stage)):
        await surely(talk.journal.commit())
        return await _Turn(agent, talk, stage, _model_calls(agent, talk, stage)).run()


async def keep_prompt(talk: Conversation, prompt: UserMessage, host: Host, typed: UserMessage | None = None) -> None:
    """Keep a prompt whose turn was ended before it could begin, as a turn without an answer: what the person said is
    not lost. The arguments are those of `run_turn`.

    Raises:
        StoreError: it could not be stored.
    """
    await _close(talk, _begin(talk, prompt, host, typed))


def _begin(talk: Conversation, prompt: UserMessage, host: Host, typed: UserMessage | None) -> RecordedHost:
    """Open a turn in both records."""
    prompt = without_blank_parts(prompt)
    stage = RecordedHost(host, talk.journal)
    talk.approvals.begin_turn()
    talk.begin(prompt)
    stage.record(UserPrompted(without_blank_parts(typed or prompt), new_id("msg")))
    talk.flush = stage.flush
    return stage


async def compact(agent: Agent, talk: Conversation, host: Host, focus: str = "") -> bool:
    """Compact a conversation between two turns; whether it has become smaller.

    Raises:
        ContextTooLarge: what has to stay does not fit.
        ProviderError: the model did not summarise; nothing has changed.
        StoreError: it could not be stored.
    """
    calls = _model_calls(agent, talk, RecordedHost(host, talk.journal))
    return await calls.compactor.now(calls.room(), focus)


def _model_calls(agent: Agent, talk: Conversation, host: RecordedHost) -> ModelCalls:
    return ModelCalls(agent, talk, host)


async def _close(talk: Conversation, stage: RecordedHost) -> None:
    """End the turn in both records, and say that nothing runs any more."""
    stage.flush()
    talk.close()
    try:
        await talk.journal.commit(durable=True)
    finally:
        stage.emit(StatusChanged("idle"))


@dataclass(slots=True)
class _Turn:
    """The moving parts of one turn: its model calls, and the replies in a row that led nowhere."""

    agent: Agent
    talk: Conversation
    host: RecordedHost
    model: ModelCalls
    useless: int = 0

    async def run(self) -> TurnResult:
        result = await self._run()
        await self.model.turn_ended()
        return result

    async def _run(self) -> TurnResult:
        if not self.talk.system:
            self.talk.set_system(await self.agent.build_system(self.talk.workspace))
        notes: tuple[str, ...] = ()
        while not self.model.used_up():
            reply = await self.model.ask(*notes)
            notes = ()
            if reply.message.tool_calls and reply.finish != "refusal":
                await self._act(reply)
            elif reply.message.text or reply.finish == "refusal":
                return self._end(reply)
            else:
                self.useless += 1
                notes = (_EMPTY_REPLY,)
                self.host.emit(StepFinished(self.model.count, self.agent.max_calls))
            if self.useless >= MAX_USELESS_REPLIES:
                return self._result("partial", "")
        return await self._summarise()

    async def _act(self, reply: Reply) -> None:
        self.host.emit(StatusChanged("executing"))
        self.talk.add_reply(reply.message)
        step = Step(reply.message.tool_calls, self.agent.every_tool(self.talk), self.talk, self.host, self.agent.hooks)
        async with finishing(lambda: self._close_step(step)):
            await step.run()
        self.useless = 0 if step.understood else self.useless + 1
        self.host.emit(StepFinished(self.model.count, self.agent.max_calls, step.outcomes()))

    async def _close_step(self, step: Step) -> None:
        try:
            await step.close(CANCELLED)
        finally:
            self.talk.add_results(step.ordered_results())

    def _end(self, reply: Reply) -> TurnResult:
        if reply.finish == "refusal":
            self.talk.forget_turn()
            return self._result("refusal", reply.message.text)
        self.talk.add_reply(reply.message)
        self.host.emit(StepFinished(self.model.count, self.agent.max_calls))
        return self._result("max_tokens" if reply.finish == "length" else "end_turn", reply.message.text)

    async def _summarise(self) -> TurnResult:
        """The end of a turn whose calls are used up: one more call for a summary, else one made here."""
        used_up = self.model.used_up()
        self.host.emit(StatusChanged("budget", f"Used up in this turn: {used_up}."))
        try:
            reply = await self.model.ask(_BUDGET_USED.format(used_up), tool_choice="none")
            text = reply.message.text
        except ProviderError as error:
            log.warning("the model did not summarise: %s", error)
            text = ""
        if not text:
            text = self._summary(used_up)
            self.host.emit(TextDelta(text, new_id("msg")))
        self.talk.add_reply(AssistantMessage(text))
        self.host.emit(StepFinished(self.model.count, self.agent.max_calls))
        return self._result("max_turn_requests", text)

    def _summary(self, used_up: str) -> str:
        """What was done in the turn, without a model's words."""
        results = [message for message in self.talk.turn() if isinstance(message, ToolMessage)]
        failed = sum(result.is_error for result in results)
        names = ", ".join(sorted({result.name for result in results})) or "none"
        return (
            f"What this turn may use is used up before the work was done: {used_up}. "
            f"Tool calls: {len(results)}, of which {failed} failed. Tools used: {names}."
        )

    def _result(self, stop: Stop, text: str) -> TurnResult:
        return TurnResult(stop, text, self.model.count, self.model.usage + self.talk.expenses.delegated)
