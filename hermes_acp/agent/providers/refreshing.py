"""A provider whose key is read late, and once more when a server rejects it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Protocol

from hermes_acp.agent.providers.base import Delta, Provider, Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.keychain import Keychain
from hermes_acp.agent.providers.masking import masked
from hermes_acp.agent.providers.model_list import ListedModel
from hermes_acp.agent.providers.shown import Shown
from hermes_acp.errors import HermesError, ProviderError
from hermes_acp.events import StatusChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import confidential
from hermes_acp.local.waiting import surely


class Client(Provider, Protocol):
    """A provider that holds connections to one address, made with one key."""

    async def warm(self) -> None: ...

    async def models(self) -> tuple[ListedModel, ...]: ...

    async def aclose(self) -> None: ...


@dataclass(slots=True)
class _Held:
    """A client and how many use it now."""

    key: str
    client: Client
    users: int = 0


class Refreshing:
    """Asks the client that `connect` makes of `endpoint` with the key that `keychain` gives.

    A rejected key (401, 403) is read anew and the request repeated, once, if there is another key and nothing
    of an answer was shown. The old client goes when nobody uses it any more.
    """

    def __init__(self, endpoint: Endpoint, keychain: Keychain, connect: Callable[[Endpoint], Client]) -> None:
        self.name, self.model = endpoint.provider, endpoint.model
        self._endpoint = endpoint
        self._keychain = keychain
        self._connect = connect
        self._held: _Held | None = None

    async def warm(self) -> None:
        """As the client's own `warm`; a key that is still to be read is left to the first request."""
        async with self._client(self._keychain.now) as client:
            await client.warm()

    async def models(self) -> tuple[ListedModel, ...]:
        """The models that the endpoint offers; it is asked once a request has read the key.

        Raises:
            ProviderError: it does not tell, or not in time.
        """
        async with self._client(await self._keychain.known()) as client:
            return await client.models()

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        held, self._held = self._held, None
        if held is not None:
            await held.client.aclose()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        began, key, shown = time.monotonic(), await self._key(), Shown()
        try:
            async with self._client(key) as client, aclosing(client.stream(request)) as deltas:
                async for delta in deltas:
                    shown.note(delta)
                    yield delta
            return
        except ProviderError as error:
            rejection = error
        if rejection.kind != "auth" or shown.anything:
            raise rejection
        yield StatusChanged("calling", f"{self.name} rejects the key; it is read anew.")
        fresh = await self._renewed(key, began, rejection)
        async with self._client(fresh) as client, aclosing(client.stream(request)) as deltas:
            async for delta in deltas:
                yield delta

    async def _key(self) -> str:
        try:
            return await self._keychain.key()
        except HermesError as error:
            raise ProviderError(f"{self.name}: {error}", kind="auth") from None

    async def _renewed(self, key: str, began: float, rejection: ProviderError) -> str:
        """Another key than the rejected one.

        Raises:
            ProviderError: there is none: the rejection, and why the key could not be read if that is so.
        """
        try:
            fresh = await self._keychain.renewed(key, began)
        except HermesError as error:
            reason = masked(str(error), key)
            raise ProviderError(f"{rejection} {reason}", kind="auth", status=rejection.status) from None
        if fresh == key:
            raise rejection
        return fresh

    @asynccontextmanager
    async def _client(self, key: str) -> AsyncIterator[Client]:
        """The client that has this key, made if there is none."""
        before = self._held
        if before is None or before.key != key:
            confidential.keep(key)
            self._held = _Held(key, self._connect(replace(self._endpoint, api_key=key)))
            await self._let_go(before)
        held = self._held
        assert held is not None
        held.users += 1
        try:
            yield held.client
        finally:
            held.users -= 1
            await self._let_go(held)

    async def _let_go(self, held: _Held | None) -> None:
        if held is not None and held is not self._held and not held.users:
            await surely(held.client.aclose())
