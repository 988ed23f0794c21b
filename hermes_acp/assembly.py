"""The models that a session may answer through, and the agents that do: the one place that knows which there are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hermes_acp.agent.thought_levels import Levels, levels_of, unknown_levels
from hermes_acp.config import Config, SideTask
from hermes_acp.errors import ConfigError, ProviderError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings import Choice, ModelEndpoint, Settings, distinct, resolve_reserves, resolve_sides
from hermes_acp.settings.providers import DEMO

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent
    from hermes_acp.agent.model_table import KnownModel
    from hermes_acp.agent.providers.model_list import ListedModel
    from hermes_acp.agent.providers.refreshing import Refreshing
    from hermes_acp.agents import Agents

log = logging.getLogger(__name__)

_COURTESY = 0.1
"""Seconds that the list of models is put off for a prompt that has waited for the SDK as well."""


@dataclass(slots=True)
class Models:
    """The models of one endpoint, and the `reserves` that may stand in for them. `sides` are the models of side tasks
    that have their own."""

    endpoint: ModelEndpoint
    config: Config
    reserves: tuple[ModelEndpoint, ...] = ()
    sides: Mapping[SideTask, tuple[ModelEndpoint, ...]] = field(default_factory=dict)
    _listed: dict[str, ListedModel] = field(default_factory=dict)
    _admitted: set[str] = field(default_factory=set)
    _agents: Agents | None = None
    _preparing: asyncio.Task[None] | None = None
    _reserves: dict[str, Choice] = field(init=False)

    def __post_init__(self) -> None:
        self._reserves = {choice.label: choice for choice in distinct(self.endpoint, self.reserves)}

    @property
    def names(self) -> tuple[str, ...]:
        """The models a session may choose from, the configured one first, then its reserves."""
        return tuple(dict.fromkeys((self.endpoint.model, *self._reserves, *self._listed)))

    def unlock(self, api_key: str) -> None:
        """Use this key, which has come out of the keyring."""
        self.endpoint = replace(self.endpoint, api_key=api_key, in_keyring=False)

    def admit(self, model: str) -> None:
        """Let a model be used that the endpoint has not listed, or not yet. The name of a reserve that is there no
        longer is none of its models."""
        if " " not in model:
            self._admitted.add(model)

    def knows(self, model: str) -> bool:
        """Whether a session may use this model."""
        return model in self.names or model in self._admitted

    def levels(self, model: str) -> Levels:
        """How much a model can be told to think; nothing for one that cannot."""
        if (reserve := self._reserves.get(model)) and model not in self._listed:
            return levels_of(reserve.endpoint.model, unknown=unknown_levels(self.config.agent))
        if self.endpoint.api_mode == DEMO:
            return ()
        told = self._listed[model].reasons if model in self._listed else None
        return levels_of(model, told, unknown_levels(self.config.agent))

    def agent(self, model: str) -> Agent:
        """The agent that a model answers through.

        Raises:
            ConfigError: the endpoint's API mode is not supported, or its key is still in the keyring.
        """
        chain = self._chain(model)
        known = {choice.label: self._known(choice.label) for choice in chain}
        return replace(self._built().agent(chain), model=known[model], reserves=known)

    def warm(self, listed: Callable[[], None]) -> None:
        """Load what the first prompt will need, then ask for the list of models, without waiting for it.

        Args:
            listed: called when the list has come. One that did not come is asked for again the next time.
        """
        self.agent(self.endpoint.model)
        idle = self._preparing is None or self._preparing.done()
        if self.endpoint.api_mode != DEMO and idle and not self._listed:
            client = self._built().connections.client(self._place(self.endpoint.model))
            self._preparing = asyncio.get_running_loop().create_task(self._prepare(client, listed))

    async def warmed(self) -> None:
        """Wait until what was begun by `warm` has come to its end."""
        if self._preparing is not None:
            await asyncio.wait([self._preparing])

    async def aclose(self) -> None:
        """Close the connections to the models."""
        if self._preparing is not None:
            self._preparing.cancel()
        if self._agents is not None:
            await self._agents.connections.aclose()

    async def _prepare(self, client: Refreshing, listed: Callable[[], None]) -> None:
        try:
            await client.warm()
            await asyncio.sleep(_COURTESY)
            await self._built().describe_tools()
            self._listed = {model.name: model for model in await client.models()}
        except ProviderError as error:
            log.info("the list of models did not come: %s", error)
        else:
            listed()

    def _known(self, model: str) -> KnownModel:
        """What is known of a model; of its window the person's word counts most, then the endpoint's."""
        from hermes_acp.agent.model_table import known_model

        if (reserve := self._reserves.get(model)) and model not in self._listed:
            known = known_model(reserve.endpoint.model, reserve.endpoint.base_url)
            return replace(known, window=reserve.endpoint.context_window or known.window)
        known = known_model(model, self.endpoint.base_url)
        told = self._listed[model].window if model in self._listed else 0
        own = self.endpoint.context_window if model == self.endpoint.model else 0
        return replace(known, window=own or told or known.window)

    def _sees_images(self, model: str) -> bool:
        if model == self.endpoint.model:
            return self.endpoint.sees_images
        return model not in self._listed or self._listed[model].sees_images is not False

    def _built(self) -> Agents:
        if self._agents is None:
            from hermes_acp.agents import Agents

            self._agents = Agents(self.config, self.sides)
        return self._agents

    def _chain(self, model: str) -> list[Choice]:
        """A model and those that stand in for it: the reserves, without itself."""
        first = self._reserves.get(model) or Choice(model, self._place(model))
        return [first, *(choice for choice in self._reserves.values() if choice.label != model)]

    def _place(self, model: str) -> ModelEndpoint:
        if self.endpoint.in_keyring:
            raise ConfigError("The system keyring has not given the key yet; try again in a moment.")
        return replace(self.endpoint, model=model, sees_images=self._sees_images(model))


def models_of(endpoint: ModelEndpoint, settings: Settings) -> Models:
    """The models of an endpoint with the reserves and side tasks of the settings.

    Raises:
        ConfigError: a reserve, or the model of a side task, cannot be completed.
    """
    return Models(endpoint, settings.config, resolve_reserves(settings, endpoint), resolve_sides(settings, endpoint))
