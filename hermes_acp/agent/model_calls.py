"""The model calls of one turn: each fits the context first, is shown while it streams, and is counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import field
from typing import Literal

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.compacting import Compactor, Room
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.drafts import Drafts
from hermes_acp.agent.gauge import Size, size_of_tools
from hermes_acp.agent.history import repair
from hermes_acp.agent.notices import mark_reached, notes_for
from hermes_acp.agent.providers.base import Delta, Reply, Request, Usage
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.errors import ProviderError
from hermes_acp.events import Notice, ReasoningDelta, StatusChanged, TextDelta, ToolDrafted, ToolFinished, UsageChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import unless_whole

_DELTAS_BETWEEN_WAITS = 64
_SUMMARISER = (
    "You summarise conversations between a user and a coding agent, completely and without inventing anything."
)


@dataclass(slots=True)
class ModelCalls:
    """Asks the model of `agent` for a conversation.

    `count` and `usage` are those of the turn so far.
    """

    agent: Agent
    talk: Conversation
    host: RecordedHost
    count: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def compactor(self) -> Compactor:
        """Compacts the conversation; its summaries are paid for like the turn's own calls."""
        return Compactor(self.agent.engine, self.talk, self.host, self._summarise, self._tell_usage)

    def used_up(self) -> str:
        """What the turn may use and has used; "" as long as it may go on."""
        if spent := self.talk.expenses.purse.used_up(self.agent.max_cost):
            return spent
        return f"{self.agent.max_calls} model calls" if self.count >= self.agent.max_calls else ""

    async def ask(self, *notes: str, tool_choice: Literal["auto", "none"] = "auto") -> Reply:
        """The model's next reply.

        Args:
            notes: ephemeral texts for this call only.
            tool_choice: "none" keeps the tools in the request and lets none be called.

        Raises:
            ProviderError: the model could not answer.
        """
        await self.compactor.when_due(self.room(), "before_call" if self.count else "turn_start")
        if mark := mark_reached(self.count, self.agent.max_calls):
            self.host.emit(StatusChanged("budget", mark))
        self.count += 1
        while True:
            request = self._request((*notes, *self._notes()), tool_choice)
            try:
                reply = await self._stream(request)
            except ProviderError as error:
                if error.kind != "context_overflow":
                    raise
                await self.compactor.after_refusal(self.room(), error)
            else:
                self._note(request, reply)
                return reply

    async def turn_ended(self) -> None:
        """Compact after the turn, if that is due."""
        await self.compactor.when_due(self.room(), "turn_end")

    def room(self) -> Room:
        """What the conversation has to fit into now."""
        around = Size(len(self.talk.system)) + size_of_tools(self._schemas())
        window = self.agent.assumed_window(self.talk)
        return Room(self.agent.answering(self.talk), window, self.talk.gauge.tokens(around))

    def pay(self, reply: Reply) -> None:
        """Count what a reply has cost, of the model itself or of a side task."""
        if reply.usage is None:
            return
        if reply.cost is None and self.agent.max_cost and self.talk.cost is not None:
            self.host.emit(_unknown_price(reply.model or self.agent.answering(self.talk)))
        self.talk.expenses.purse.spent += reply.cost or 0.0
        self.talk.spend(reply.cost)

    async def _summarise(self, question: str) -> str:
        return await self.agent.side("compression", self.pay).ask(question, _SUMMARISER)

    def _request(self, notes: tuple[str, ...], tool_choice: Literal["auto", "none"]) -> Request:
        return Request(
            system=self.talk.system,
            messages=repair(self.talk.messages),
            tools=self._schemas(),
            notes=notes,
            tool_choice=tool_choice,
            thought_level=self.talk.thought_level,
            answering=self.talk.answering,
            pay=self.pay,
        )

    def _notes(self) -> tuple[str, ...]:
        """What the model is told of the calls and the window that are used up before this call."""
        room, gauge = self.room(), self.talk.gauge
        used = room.around + gauge.tokens(gauge.size_of(self.talk.messages))
        return notes_for(self.count - 1, self.agent.max_calls, used, self.agent.window(self.talk))

    def _schemas(self) -> list[dict[str, object]]:
        return [tool.schema() for tool in self.agent.tools(self.talk).values()]

    async def _stream(self, request: Request) -> Reply:
        """The reply to one request. The cards of its calls are open; every other draft is closed."""
        self.host.emit(StatusChanged("thinking"))
        drafts = Drafts(self.host, self.agent.every_tool(self.talk))
        async with unless_whole(drafts.close):
            async with aclosing(self.agent.provider.stream(request)) as deltas:
                reply = await self._show(deltas, drafts)
            made = reply.finish != "refusal" and request.tool_choice != "none"
            await drafts.close([call.id for call in reply.message.tool_calls if made])
        return reply

    async def _show(self, deltas: AsyncIterator[Delta], drafts: Drafts) -> Reply:
        """Show what streams in, up to the whole reply."""
        count, told = 0, False
        async for delta in deltas:
            if told and isinstance(delta, TextDelta | ReasoningDelta):
                # What the provider told, such as a retry, is over.
                self.host.emit(StatusChanged("thinking"))
                told = False
            if isinstance(delta, TextDelta | ReasoningDelta):
                self.host.emit(delta)
                count += 1
                if count % _DELTAS_BETWEEN_WAITS == 0:
                    await self.host.ready()
            elif isinstance(delta, Reply):
                return delta
            elif isinstance(delta, ToolDrafted):
                drafts.open(delta)
            elif isinstance(delta, ToolFinished):
                await drafts.drop(delta)
            else:
                told = told or isinstance(delta, StatusChanged)
                self.talk.take_note(delta)
                self.host.emit(delta)
        raise ProviderError("The stream ended without a reply.", kind="incomplete")

    def _note(self, request: Request, reply: Reply) -> None:
        self.pay(reply)
        if (usage := reply.usage) is None:
            return
        self.usage += usage
        self.talk.gauge.learn(request, usage)
        self._tell_usage(usage.input + usage.output)

    def _tell_usage(self, used: int) -> None:
        if window := self.agent.window(self.talk):
            self.host.emit(UsageChanged(used, window, self.talk.cost))


def _unknown_price(model: str) -> Notice:
    return Notice("warning", "The limit of cost does not hold", f"What {model} costs is not known here.")
