"""Providers made of endpoints, and what they share: keys, cool-downs, open connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from hermes_acp.agent.model_table import known_model
from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.attuned import Attuned
from hermes_acp.agent.providers.base import Provider
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.cooldown import Cooldown
from hermes_acp.agent.providers.described import Describe
from hermes_acp.agent.providers.fallback import Fallback, Link
from hermes_acp.agent.providers.keychain import Keychain, ReadKey
from hermes_acp.agent.providers.priced import Priced
from hermes_acp.agent.providers.refreshing import Refreshing
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.agent.providers.retry import USUAL, Backoff, Retrying
from hermes_acp.agent.thought_levels import Levels, levels_of, unknown_levels
from hermes_acp.config import AgentConfig
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import confidential
from hermes_acp.settings import Choice, ModelEndpoint, origin
from hermes_acp.settings.providers import DEMO


@dataclass(slots=True)
class Connections:
    """The providers of every endpoint in use, each made when it is first used.

    `describe` gives words for pictures to the models made after it is set, if they cannot see.
    """

    config: AgentConfig
    describe: Describe | None = None
    _clients: dict[ModelEndpoint, Refreshing] = field(default_factory=dict)
    _keychains: dict[tuple[str, str], Keychain] = field(default_factory=dict)
    _rests: dict[tuple[str, str], Cooldown] = field(default_factory=dict)

    def chain(self, choices: Sequence[Choice], backoff: Backoff = USUAL) -> Provider:
        """The provider that asks the first of these models, and the others in its place, in order.

        Args:
            choices: the models.
            backoff: how each is asked again after a failure.

        Raises:
            ConfigError: an API mode is not supported.
        """
        first, *reserves = ((one, self._provider(one.endpoint, backoff)) for one in choices)
        if not reserves:
            return first[1]
        attuned = ((one, Attuned(provider, self._levels(one.endpoint))) for one, provider in reserves)
        return Fallback([Link(one.label, provider, self._rest(one.endpoint)) for one, provider in (first, *attuned)])

    def client(self, endpoint: ModelEndpoint) -> Refreshing:
        """What asks an endpoint itself.

        Raises:
            ConfigError: its API mode is not supported.
        """
        if endpoint not in self._clients:
            self._clients[endpoint] = self._connect(endpoint)
        return self._clients[endpoint]

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()

    def _provider(self, endpoint: ModelEndpoint, backoff: Backoff) -> Provider:
        if endpoint.api_mode == DEMO:
            from hermes_acp.agent.providers.demo import Demo

            return Demo()
        provider = Continued(Retrying(self.client(endpoint), backoff))
        prices = known_model(endpoint.model, endpoint.base_url).prices
        return Priced(provider, prices) if prices else provider

    def _levels(self, endpoint: ModelEndpoint) -> Levels:
        return levels_of(endpoint.model, unknown=unknown_levels(self.config))

    def _connect(self, place: ModelEndpoint) -> Refreshing:
        api, describe = api_of(place.api_mode), self.describe
        endpoint = replace(place, stall_timeout=self.config.stall_timeout)
        return Refreshing(endpoint, self._keychain(place), lambda keyed: RemoteModel(keyed, api, describe))

    def _keychain(self, place: ModelEndpoint) -> Keychain:
        """The key of an address: one for all models there, so that it is read anew once for all of them."""
        found = origin(place.base_url), place.key_source
        if found not in self._keychains:
            self._keychains[found] = Keychain(place.known_key, _kept_out(place.read_key))
        return self._keychains[found]

    def _rest(self, place: ModelEndpoint) -> Cooldown:
        return self._rests.setdefault((place.base_url, place.model), Cooldown(self.config.fallback_cooldown))


def _kept_out(read: ReadKey | None) -> ReadKey | None:
    """The same, and no log shows what it reads."""
    if read is None:
        return None

    async def reading() -> str:
        key = await read()
        confidential.keep(key)
        return key

    return reading
