"""Who the agent talks with: one session's messages, files, permissions and place in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from hermes_acp.agent.expenses import Expenses
from hermes_acp.agent.gauge import Gauge
from hermes_acp.agent.history import close_open_turn
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.record import Record
from hermes_acp.agent.store.records import now
from hermes_acp.config import Mode
from hermes_acp.events import Event, ModelSwitched
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Message, ToolMessage, UserMessage
from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.base import Tool
from hermes_acp.workspace import Workspace

Toolbox = Mapping[str, Tool]
"""Tools by name."""


@dataclass(slots=True)
class Conversation:
    """One session as the engine sees it.

    Each method that changes the messages also hands the change to the journal, without an await between:
    there is no moment at which the two records could part. `flush` hands what is shown of a running turn to
    the journal; `mode_entered` tells whoever holds the session's options of another mode. `answering` is the model that
    answers in the place of the chosen one ("" when that one does).
    `toolbox` holds the session's own tools, beside those that every session of the agent has; `gauge` measures its
    context, `expenses` what its model calls cost.
    """

    id: str
    workspace: Workspace
    journal: Record
    approvals: Approvals
    system: str = ""
    thought_level: str = ""
    messages: list[Message] = field(default_factory=list)
    toolbox: Toolbox = field(default_factory=dict)
    gauge: Gauge = field(default_factory=Gauge)
    answering: str = ""
    expenses: Expenses = field(default_factory=Expenses)
    flush: Callable[[], None] = lambda: None
    mode_entered: Callable[[Mode], None] = lambda mode: None
    _turn_start: int = 0

    @property
    def cost(self) -> float | None:
        """What its model calls cost in US dollars; None when the price of one was not known."""
        return self.expenses.cost

    def take_account(self, usage: Usage, cost: float | None) -> None:
        """Add what a subagent of the turn used and cost."""
        self.expenses.delegated += usage
        self.spend(cost)

    def pay(self, reply: Reply) -> None:
        """Add what a reply cost that somebody was asked for beside a turn."""
        if reply.usage is not None:
            self.spend(reply.cost)

    def spend(self, cost: float | None) -> None:
        """Add what a model call cost; one of unknown price makes the sum unknown."""
        self.expenses.spend(cost)
        self.journal.update(cost=self.cost)

    def enter_mode(self, mode: Mode) -> None:
        """Be in another mode from here on, as the person has agreed to."""
        self.approvals.mode = mode
        self.mode_entered(mode)

    def begin(self, prompt: UserMessage) -> None:
        """Open a turn with what the person said."""
        self.expenses.begin_turn()
        self._turn_start = len(self.messages)
        self.journal.begin_turn()
        self.journal.update(prompted=True, updated_at=now())
        self.messages.append(prompt)
        self.journal.add_message(prompt)

    def set_system(self, system: str) -> None:
        """Keep the system prompt: it is built once and reused byte for byte."""
        self.system = system
        self.journal.update(system_prompt=system)

    def add_reply(self, reply: AssistantMessage) -> None:
        """Append a reply; its calls stay open until `add_results`."""
        self.messages.append(reply)
        self.journal.add_message(reply)

    def keep_result(self, result: ToolMessage) -> None:
        """Record one result as soon as its call has ended, so that a crash cannot lose it."""
        self.journal.add_message(result)

    def add_results(self, results: Sequence[ToolMessage]) -> None:
        """Append the results of the last reply, already recorded, in call order."""
        self.messages.extend(results)

    def take_note(self, event: Event) -> None:
        """Know which model answers from here on."""
        if isinstance(event, ModelSwitched):
            self.answering = event.model

    def turn(self) -> Sequence[Message]:
        """The messages of the turn so far, its prompt first."""
        return self.messages[self._turn_start :]

    def replace(self, messages: Sequence[Message]) -> None:
        """Let the model see exactly these messages from now on; their roles are in order.

        Within a turn they end as those before did, with the turn's prompt and what follows on it.
        """
        start = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], UserMessage)), 0)
        self.messages[:] = messages
        self._turn_start = start
        self.journal.begin_segment(messages, len(messages) - start)

    def reset(self) -> None:
        """Let the model see nothing of what was said so far, and begin with a prompt that is built anew."""
        self.replace([])
        self.set_system("")
        self.gauge.in_vain = 0

    def go_back_to(self, messages: Sequence[Message]) -> None:
        """Let the model see exactly these messages, which end with a turn that is over."""
        self.messages[:] = messages
        self._turn_start = len(messages)
        self.gauge.in_vain = 0
        self.journal.begin_segment(self.messages)

    def forget_turn(self) -> None:
        """Take the turn out of what the model sees: a refused prompt and all after it (ACP, StopReason)."""
        del self.messages[self._turn_start :]
        self.journal.drop_turn()

    def close(self) -> None:
        """End the turn: one that has no answer gets the closing message."""
        if len(self.messages) > self._turn_start and (closing := close_open_turn(self.messages)):
            self.journal.add_message(closing)
        self.journal.update(updated_at=now())
