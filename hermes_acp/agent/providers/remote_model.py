"""A model behind an address, whatever its API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any, Generic, cast

from hermes_acp.agent.providers.api import Api, ClientT, DialectT, Response
from hermes_acp.agent.providers.base import Delta, Request
from hermes_acp.agent.providers.blocks import gathered
from hermes_acp.agent.providers.described import Describe, described
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.idle import Idle
from hermes_acp.agent.providers.model_list import ListedModel, read_models
from hermes_acp.agent.providers.reading import Reading, is_stream
from hermes_acp.agent.providers.sight import Sight, in_sight, learned, told
from hermes_acp.errors import ProviderError
from hermes_acp.messages import Message

LIST_SECONDS = 5.0
"""How long an endpoint may take to list its models."""


class RemoteModel(Generic[DialectT, ClientT]):
    """A model that is asked over HTTP. It belongs to the loop it is first used on.

    What the endpoint was found to refuse (optional fields that a 400 named, pictures) is remembered as long
    as this object lives. `describe` gives words for the pictures that it cannot see.
    """

    def __init__(self, endpoint: Endpoint, api: Api[DialectT, ClientT], describe: Describe | None = None) -> None:
        self.name, self.model = endpoint.provider, endpoint.model
        self._endpoint = endpoint
        self._api = api
        self._dialect = api.dialect
        self._sight = Sight() if endpoint.sees_images else Sight(most=0)
        self._describe = describe
        self._client: ClientT | None = None
        self._warming = asyncio.Lock()

    async def warm(self) -> None:
        """Import the SDK and build its client, in a thread.

        The first request does it if nobody did before. It takes half a second of CPU and more, in which the
        loop may lag: call it when nobody waits for an answer.
        """
        await self._connected()

    async def models(self) -> tuple[ListedModel, ...]:
        """The models that the endpoint offers.

        Raises:
            ProviderError: it does not tell, or not in time.
        """
        client = await self._connected()
        try:
            async with asyncio.timeout(LIST_SECONDS):
                body = await client.models(LIST_SECONDS)
        except TimeoutError:
            raise ProviderError(f"{self.name} has not listed its models in time.", kind="stalled") from None
        return await asyncio.to_thread(read_models, body, self.name)

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        client = await self._connected()
        idle = Idle(self.name, self._endpoint.stall_timeout)
        decoder = self._api.decoder(self._endpoint)
        before = self._sight
        async with AsyncExitStack() as stack:
            response = await self._open(client, request, idle, stack)
            for notice in told(self.model, await self._in_words(request), before, self._sight):
                yield notice
            source = cast("AsyncGenerator[bytes, None]", response.iter_bytes())
            blocks = await stack.enter_async_context(gathered(source))
            reading = Reading(blocks, idle, client.translated)
            streamed = is_stream(response.headers.get("content-type", ""), self.name)
            deltas = reading.deltas(decoder) if streamed else reading.whole(decoder)
            await stack.enter_async_context(aclosing(deltas))
            async for delta in deltas:
                yield delta
            yield decoder.reply()

    async def _connected(self) -> ClientT:
        async with self._warming:
            if self._client is None:
                self._client = await asyncio.to_thread(self._api.connect, self._endpoint)
            return self._client

    async def _open(self, client: ClientT, request: Request, idle: Idle, stack: AsyncExitStack) -> Response:
        """Send the request, and again without what the endpoint says it does not know or cannot take."""
        while True:
            used = self._dialect, self._sight
            messages = await self._in_words(request)
            idle.restart()
            seen = replace(request, messages=in_sight(messages, self._sight))
            body = self._api.body(seen, self._endpoint, self._dialect)
            try:
                async with idle.limit():
                    with client.translated():
                        return await stack.enter_async_context(self._api.send(client, body))
            except ProviderError as error:
                self._learn(error, request, body)
                if (self._dialect, self._sight) == used:
                    raise

    async def _in_words(self, request: Request) -> Sequence[Message]:
        """The messages, with words for their pictures if the model is blind and somebody else is not."""
        if self._describe is None or not self._sight.blind:
            return request.messages
        return await described(request.messages, self._describe, request.pay)

    def _learn(self, error: ProviderError, request: Request, body: Mapping[str, Any]) -> None:
        """Take from a refusal what can be done otherwise."""
        before, self._dialect = self._dialect, self._api.adapted(self._dialect, error, body)
        if self._dialect == before:
            self._sight = learned(self._sight, error, request.messages)
