"""The prompts of a program's agent: one turn at a time, interrupted from anywhere, each with its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import field, replace
from typing import Any

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import TurnResult
from hermes_acp.agent.providers.base import Usage
from hermes_acp.agent.providers.counted import Counted
from hermes_acp.agent.turns import Ticket, Turns
from hermes_acp.errors import HermesError, SessionNotFound, TurnCancelled
from hermes_acp.events import StatusChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.library.callbacks import CallbackHost
from hermes_acp.library.given import History, fit_history, fit_prompt
from hermes_acp.library.result import FAILED, INTERRUPTED, Ending, Outcome
from hermes_acp.local.confidential import blotted
from hermes_acp.messages import UserMessage, to_dict
from hermes_acp.talk.setup import Setup
from hermes_acp.talk.talk import Talk

TELL_SECONDS = 0.5
"""So long a turn that has ended waits for slow callbacks to be told of it; an interrupted one hardly at all."""

_TELL_OF_INTERRUPT_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Asked:
    """What one call of `run_conversation` asks. `loop` is where its async callbacks run; None: the agent's own."""

    prompt: UserMessage
    task_id: str
    system: str = ""
    history: History | None = None
    loop: asyncio.AbstractEventLoop | None = None


@dataclass(eq=False, slots=True)
class Call:
    """A call from outside, from before its prompt is in the queue until it is answered.

    `next` is what is asked in its place, once it was interrupted with a message.
    """

    asked: Asked
    ticket: Ticket | None = None
    next: Call | None = None

    def cancel(self) -> None:
        """End this call's prompt, and what was to be asked in its place."""
        if self.ticket is not None:
            self.ticket.cancel()
        if self.next is not None:
            self.next.cancel()


@dataclass(slots=True)
class Prompts:
    """Everything that lives on the loop of one agent."""

    setup: Setup
    talk: Talk
    host: CallbackHost
    _turns: Turns = field(default_factory=Turns)
    _calls: dict[Ticket, Call] = field(default_factory=dict)

    def begin(self, call: Call) -> Coroutine[Any, Any, dict[str, Any]]:
        """Take the next place in the queue, at once; the answer to the call."""
        if self._busy_prompt_interrupts():
            self._turns.cancel_all()
        self._register(call)
        return self._answer(call)

    def interrupt(self, message: UserMessage | None) -> None:
        """Stop the running turn and those that wait; a message is asked next, for the call whose turn is stopped.
        Nothing happens when nothing runs."""
        running = self._turns.running
        if running is None:
            return
        last = self._calls[running]
        self._turns.cancel_all()
        self._forget_next(last)
        if message is not None:
            last.next = Call(replace(last.asked, prompt=message, history=None, system=""))
            self._register(last.next)

    async def aclose(self) -> None:
        """Stop everything, keep everything."""
        self._turns.cancel_all()
        await self._turns.idle()
        self.host.close()
        await self.talk.aclose()

    def _busy_prompt_interrupts(self) -> bool:
        return self.setup.settings.config.agent.busy_prompt == "interrupt"

    def _register(self, call: Call) -> None:
        call.ticket = self._turns.register()
        self._calls[call.ticket] = call

    def _forget_next(self, call: Call) -> None:
        if call.next is not None and call.next.ticket is not None:
            self._turns.withdraw(call.next.ticket)
            self._calls.pop(call.next.ticket, None)
        call.next = None

    async def _answer(self, call: Call) -> dict[str, Any]:
        served = call
        try:
            outcome = await self._serve(served)
            while served.next is not None:
                served = served.next
                outcome = await self._serve(served)
        finally:
            self._forget_next(served)
        return outcome.as_dict(interrupted=served is not call)

    async def _serve(self, call: Call) -> Outcome:
        assert call.ticket is not None
        turn = _Turn(self.setup, self.talk, self.host, call.asked)
        try:
            ending = Ending.of(await self._turns.run(call.ticket, turn.run))
        except (asyncio.CancelledError, TurnCancelled):
            ending = Ending(INTERRUPTED)
        except SessionNotFound:
            raise
        except HermesError as error:
            ending = Ending(FAILED, "", blotted(str(error)))
        finally:
            self._calls.pop(call.ticket, None)
        return turn.outcome(ending)


@dataclass(slots=True)
class _Turn:
    """One prompt on its way to its outcome."""

    setup: Setup
    talk: Talk
    host: CallbackHost
    asked: Asked
    _counted: Counted | None = None
    _paid: float | None = 0.0

    async def run(self) -> TurnResult:
        """Answer the prompt. Raises what `Talk.open` and `run_turn` raise."""
        self.host.loop = self.asked.loop
        seconds = TELL_SECONDS
        try:
            return await self._run()
        except asyncio.CancelledError:
            seconds = _TELL_OF_INTERRUPT_SECONDS
            raise
        finally:
            await self.host.settle(seconds)

    def outcome(self, ending: Ending) -> Outcome:
        """How the turn ended, and what it took."""
        conversation = self.talk.opened.conversation if self.talk.opened else None
        models = self.talk.answering.models if self.talk.answering else None
        counted = self._counted
        answering = conversation.answering if conversation else ""
        return Outcome(
            ending=ending,
            messages=[to_dict(message) for message in conversation.messages] if conversation else [],
            api_calls=counted.calls if counted else 0,
            usage=counted.usage + conversation.expenses.delegated if counted and conversation else Usage(),
            cost=self._cost(conversation) if counted and conversation else None,
            session_id=conversation.journal.segment_id if conversation else self.talk.session_id,
            task_id=self.asked.task_id,
            model=answering or models.endpoint.model if models else self.setup.settings.config.model.name,
            provider=models.endpoint.provider if models else self.setup.settings.config.model.provider,
        )

    def _cost(self, conversation: Conversation) -> float | None:
        """What the turn's calls cost in US dollars; None when a price was not known."""
        if conversation.cost is None or self._paid is None:
            return None
        return conversation.cost - self._paid

    async def _run(self) -> TurnResult:
        opened = await self.talk.open()
        self.host.timeout = opened.approval_timeout
        if told := opened.groundwork.where_commands_run():
            self.host.emit(StatusChanged("sandbox", told))
        prompt = await fit_prompt(self.asked.prompt)
        await self._prepare(opened.conversation)
        await opened.prepare(prompt, self.host)
        agent = opened.answering.agent()
        self._paid = opened.conversation.cost
        self._counted = Counted(agent.provider)
        agent = replace(agent, provider=self._counted)
        run = opened.runner(agent.provider.model)
        return await run(agent, opened.conversation, prompt, self.host)

    async def _prepare(self, conversation: Conversation) -> None:
        """Take over the history and the system message that were given."""
        history = self.asked.history
        if history is not None:
            messages = await fit_history(history.messages)
            if messages != conversation.messages:
                conversation.replace(messages)
        system = self.asked.system or (history.system if history else "")
        if system and system != conversation.system:
            conversation.set_system(system)
