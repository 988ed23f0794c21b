"""What answers in conversations: a model, its tools, and how much it may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field

from hermes_acp.agent.auxiliary_client import AuxiliaryClient
from hermes_acp.agent.context_compressor import ContextCompressor
from hermes_acp.agent.context_engine import ContextEngine
from hermes_acp.agent.conversation import Conversation, Toolbox
from hermes_acp.agent.model_table import CAREFUL_WINDOW, UNKNOWN, KnownModel
from hermes_acp.agent.providers.base import Pay, Provider, free
from hermes_acp.config import SideTask
from hermes_acp.hooks import Hooks, NoHooks
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Agent:
    """What answers: a model, its tools, and how much it may do.

    `build_system` makes the system prompt of a session; `max_calls` are model calls a turn, `max_subagent_calls` those
    of each subagent, and `max_cost` is what a turn may cost in US dollars, where prices are known (0: no limit);
    `model` is what is known of the model, and `reserves`, by their labels, of those that may answer in its place;
    `titles`: whether the model is asked what to call a session; `hooks` have a say in tool calls. `sides` are the
    models of side tasks that have their own.
    """

    provider: Provider
    toolbox: Toolbox
    build_system: Callable[[Workspace], Awaitable[str]]
    engine: ContextEngine = field(default_factory=ContextCompressor)
    max_calls: int = 500
    max_cost: float = 0.0
    max_subagent_calls: int = 50
    model: KnownModel = UNKNOWN
    reserves: Mapping[str, KnownModel] = field(default_factory=dict)
    titles: bool = False
    hooks: Hooks = field(default_factory=NoHooks)
    sides: Mapping[SideTask, Provider] = field(default_factory=dict)

    def side(self, task: SideTask, pay: Pay = free) -> AuxiliaryClient:
        """What answers the questions of a side task: its own models, else the session's. `pay` counts what it costs."""
        return AuxiliaryClient(task, self.sides.get(task, self.provider), pay)

    def window(self, talk: Conversation) -> int:
        """The window of the model that answers in a conversation now, in tokens; 0 when it is not known."""
        return talk.gauge.window(self.answering(talk), self.reserves.get(talk.answering, self.model).window)

    def assumed_window(self, talk: Conversation) -> int:
        """The window to keep to: the known one, else a careful one, which is not larger than the model's own where a
        reserve answers."""
        return self.window(talk) or min(self.model.window or CAREFUL_WINDOW, CAREFUL_WINDOW)

    def answering(self, talk: Conversation) -> str:
        """The model that answers in a conversation now."""
        return talk.answering or self.provider.model

    def every_tool(self, talk: Conversation) -> Toolbox:
        """The tools of a conversation: the agent's and the session's own."""
        return {**self.toolbox, **talk.toolbox}

    def tools(self, talk: Conversation) -> Toolbox:
        """Those of a conversation's tools that its mode allows now."""
        return {name: tool for name, tool in self.every_tool(talk).items() if talk.approvals.offers(tool.effect)}
