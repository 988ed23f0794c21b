"""Puts an agent together from settings: the one place that knows which provider an endpoint needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_acp.agent.engines import context_engine
from hermes_acp.agent.loop import Agent
from hermes_acp.agent.model_table import KnownModel, known_model
from hermes_acp.agent.prompt_builder import build_system_prompt
from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.base import Provider
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.model_list import ListedModel
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.agent.providers.retry import Retrying
from hermes_acp.config import Config
from hermes_acp.errors import ConfigError, ProviderError
from hermes_acp.settings import ModelEndpoint
from hermes_acp.settings.providers import DEMO
from hermes_acp.tools.registry import discover

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Models:
    """The models of one endpoint; each is built when first used and kept."""

    endpoint: ModelEndpoint
    config: Config
    _listed: dict[str, ListedModel] = field(default_factory=dict)
    _admitted: set[str] = field(default_factory=set)
    _agents: dict[str, Agent] = field(default_factory=dict)
    _clients: list[RemoteModel[Any, Any]] = field(default_factory=list)
    _preparing: asyncio.Task[None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The models a session may choose from, the configured one first."""
        return tuple(dict.fromkeys((self.endpoint.model, *self._listed)))

    def unlock(self, api_key: str) -> None:
        """Use this key, which has come out of the keyring."""
        self.endpoint = replace(self.endpoint, api_key=api_key, in_keyring=False)

    def admit(self, model: str) -> None:
        """Let a model be used that the endpoint has not listed, or not yet."""
        self._admitted.add(model)

    def knows(self, model: str) -> bool:
        """Whether a session may use this model."""
        return model == self.endpoint.model or model in self._listed or model in self._admitted

    def agent(self, model: str) -> Agent:
        """The agent that a model answers through.

        Raises:
            ConfigError: the endpoint's API mode is not supported, or its key is still in the keyring.
        """
        if model not in self._agents:
            self._agents[model] = self._build(model)
        return replace(self._agents[model], model=self._known(model))

    def warm(self, listed: Callable[[], None]) -> None:
        """Load what the first prompt will need, then ask for the list of models, without waiting for it.

        Args:
            listed: called when the list has come. One that did not come is asked for again the next time.
        """
        self.agent(self.endpoint.model)
        idle = self._preparing is None or self._preparing.done()
        if self._clients and idle and not self._listed:
            self._preparing = asyncio.get_running_loop().create_task(self._prepare(self._clients[0], listed))

    async def aclose(self) -> None:
        """Close the connections to the models."""
        if self._preparing is not None:
            self._preparing.cancel()
        for client in self._clients:
            await client.aclose()

    async def _prepare(self, client: RemoteModel[Any, Any], listed: Callable[[], None]) -> None:
        try:
            await client.warm()
            self._listed = {model.name: model for model in await client.models()}
        except ProviderError as error:
            log.info("the list of models did not come: %s", error)
        else:
            listed()

    def _known(self, model: str) -> KnownModel:
        """What is known of a model; of its window the person's word counts most, then the endpoint's."""
        known = known_model(model, self.endpoint.base_url)
        told = self._listed[model].window if model in self._listed else 0
        own = self.endpoint.context_window if model == self.endpoint.model else 0
        return replace(known, window=own or told or known.window)

    def _sees_images(self, model: str) -> bool:
        if model == self.endpoint.model:
            return self.endpoint.sees_images
        return model not in self._listed or self._listed[model].sees_images is not False

    def _build(self, model: str) -> Agent:
        return Agent(
            provider=self._provider(model),
            toolbox=discover(),
            build_system=build_system_prompt,
            engine=context_engine(self.config),
            max_calls=self.config.agent.max_turns,
            titles=self.config.agent.auto_title and self.endpoint.api_mode != DEMO,
        )

    def _provider(self, model: str) -> Provider:
        if self.endpoint.api_mode == DEMO:
            from hermes_acp.agent.providers.demo import Demo

            return Demo()
        return Continued(Retrying(self._client(model)))

    def _client(self, model: str) -> RemoteModel[Any, Any]:
        place = self.endpoint
        if place.in_keyring:
            raise ConfigError("The system keyring has not given the key yet; try again in a moment.")
        stall_timeout = self.config.agent.stall_timeout
        sees = self._sees_images(model)
        version = place.anthropic_version
        endpoint = Endpoint(place.provider, model, place.base_url, place.api_key, stall_timeout, sees, version)
        client = RemoteModel(endpoint, api_of(place.api_mode))
        self._clients.append(client)
        return client
