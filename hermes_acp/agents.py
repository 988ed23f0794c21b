"""Puts agents together: their models, tools, context engine and hooks.

This is what the first prompt needs and the start of a session does not, so it is imported when it is first used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import field

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.auxiliary_client import AuxiliaryClient
from hermes_acp.agent.descriptions import Descriptions
from hermes_acp.agent.engines import context_engine
from hermes_acp.agent.prompt_builder import build_system_prompt
from hermes_acp.agent.providers.base import Provider
from hermes_acp.agent.providers.retry import USUAL, Backoff
from hermes_acp.agent.tools import load
from hermes_acp.config import Config, SideTask
from hermes_acp.connections import Connections
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.plugins.hooks import PluginHooks
from hermes_acp.settings import Choice, ModelEndpoint, distinct
from hermes_acp.settings.providers import DEMO
from hermes_acp.tools.registry import discover


@dataclass(slots=True)
class Agents:
    """The agents of some settings, each built when it is first asked for and kept.

    `endpoints` are the models of side tasks that have their own.
    """

    config: Config
    endpoints: Mapping[SideTask, tuple[ModelEndpoint, ...]]
    connections: Connections = field(init=False)
    _sides: dict[SideTask, Provider] = field(init=False)
    _built: dict[str, Agent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        load()
        self.connections = Connections(self.config.agent)
        self._sides = {task: self._side(task, endpoints) for task, endpoints in self.endpoints.items()}
        if vision := self._sides.get("vision"):
            self.connections.describe = Descriptions(AuxiliaryClient("vision", vision)).of

    def agent(self, chain: Sequence[Choice]) -> Agent:
        """The agent that answers through the first of these models, and through the others in its place.

        Raises:
            ConfigError: an API mode is not supported, or the context engine cannot be used.
        """
        label = chain[0].label
        if label not in self._built:
            self._built[label] = self._build(chain)
        return self._built[label]

    async def describe_tools(self) -> None:
        """Make the schemas of the tools, which the first request needs, while nobody waits for them."""
        for tool in discover().values():
            tool.schema()
            await asyncio.sleep(0)

    def _build(self, chain: Sequence[Choice]) -> Agent:
        config = self.config.agent
        return Agent(
            provider=self.connections.chain(chain),
            toolbox=discover(),
            build_system=build_system_prompt,
            engine=context_engine(self.config),
            sides=self._sides,
            max_calls=config.max_turns,
            max_cost=config.max_cost,
            max_subagent_calls=self.config.delegation.max_iterations,
            titles=config.auto_title and chain[0].endpoint.api_mode != DEMO,
            hooks=PluginHooks(),
        )

    def _side(self, task: SideTask, endpoints: tuple[ModelEndpoint, ...]) -> Provider:
        """The chain of a side task. A title is worth one attempt of each model."""
        first, *others = endpoints
        choices = [Choice(first.model, first), *distinct(first, others)]
        return self.connections.chain(choices, Backoff(attempts=1) if task == "title" else USUAL)
