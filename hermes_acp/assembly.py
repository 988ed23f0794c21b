"""Puts an agent together from settings: the one place that knows which provider an endpoint needs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hermes_acp.agent.loop import Agent
from hermes_acp.agent.prompt_builder import build_system_prompt
from hermes_acp.agent.providers.base import Provider
from hermes_acp.agent.providers.chat_completions import ChatCompletions
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.retry import Retrying
from hermes_acp.config import Config
from hermes_acp.errors import ConfigError
from hermes_acp.settings import ModelEndpoint
from hermes_acp.settings.providers import DEMO
from hermes_acp.tools.registry import discover


@dataclass(slots=True)
class Models:
    """The models of one configuration; each is built when first used and kept."""

    endpoint: ModelEndpoint
    config: Config
    _agents: dict[str, Agent] = field(default_factory=dict)
    _clients: list[ChatCompletions] = field(default_factory=list)
    _warming: asyncio.Task[None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The models a session may choose from, the configured one first."""
        return (self.endpoint.model,)

    def agent(self, model: str) -> Agent:
        """The agent that a model answers through.

        Raises:
            ConfigError: the endpoint's API mode is not supported.
        """
        if model not in self._agents:
            self._agents[model] = self._build(model)
        return self._agents[model]

    def warm(self) -> None:
        """Start to load what the first prompt will need, without waiting for it."""
        self.agent(self.endpoint.model)
        if self._clients and self._warming is None:
            self._warming = asyncio.get_running_loop().create_task(self._clients[0].warm())

    async def aclose(self) -> None:
        """Close the connections to the models."""
        if self._warming is not None:
            self._warming.cancel()
        for client in self._clients:
            await client.aclose()

    def _build(self, model: str) -> Agent:
        return Agent(
            provider=self._provider(model),
            toolbox=discover(),
            build_system=build_system_prompt,
            max_calls=self.config.agent.max_turns,
            window=self.endpoint.context_window,
            titles=self.config.agent.auto_title and self.endpoint.api_mode != DEMO,
        )

    def _provider(self, model: str) -> Provider:
        match self.endpoint.api_mode:
            case "demo":
                from hermes_acp.agent.providers.demo import Demo

                return Demo()
            case "chat_completions":
                return Continued(Retrying(self._client(model)))
            case other:
                raise ConfigError(f"The API mode {other!r} is not supported yet; use chat_completions.")

    def _client(self, model: str) -> ChatCompletions:
        place = self.endpoint
        stall_timeout = self.config.agent.stall_timeout
        client = ChatCompletions(
            Endpoint(place.provider, model, place.base_url, place.api_key, stall_timeout, place.sees_images)
        )
        self._clients.append(client)
        return client
