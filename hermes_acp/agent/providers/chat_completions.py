"""The Chat Completions API, of OpenAI and of everyone who copied it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hermes_acp.agent.providers.base import Delta, Request
from hermes_acp.agent.providers.blocks import gathered
from hermes_acp.agent.providers.chat_decoding import ChatDecoder
from hermes_acp.agent.providers.chat_dialect import Dialect, adapted
from hermes_acp.agent.providers.chat_encoding import chat_body
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.idle import Idle
from hermes_acp.agent.providers.model_list import ListedModel, read_models
from hermes_acp.agent.providers.reading import Reading, is_stream
from hermes_acp.agent.providers.sight import Sight, in_sight, learned, told
from hermes_acp.errors import ProviderError

if TYPE_CHECKING:
    from openai import AsyncAPIResponse

    from hermes_acp.agent.providers.openai_sdk import OpenAIClient


LIST_SECONDS = 5.0
"""How long an endpoint may take to list its models."""


class ChatCompletions:
    """A model behind a Chat Completions address. It belongs to the loop it is first used on.

    What the endpoint was found to refuse (optional fields that a 400 named, pictures) is remembered as long
    as this object lives.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dialect = Dialect()
        self._sight = Sight() if endpoint.sees_images else Sight(most=0)
        self._client: OpenAIClient | None = None
        self._warming = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def model(self) -> str:
        return self._endpoint.model

    async def warm(self) -> None:
        """Import the SDK and build its client, in a thread.

        The first request does it if nobody did before. It takes half a second of CPU, in which the loop
        may lag: call it when nobody waits for an answer.
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
        decoder = ChatDecoder(self._endpoint)
        before = self._sight
        async with AsyncExitStack() as stack:
            response = await self._open(client, request, idle, stack)
            for notice in told(self.model, request.messages, before, self._sight):
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

    async def _connected(self) -> OpenAIClient:
        async with self._warming:
            if self._client is None:
                self._client = await asyncio.to_thread(_connect, self._endpoint)
            return self._client

    async def _open(
        self, client: OpenAIClient, request: Request, idle: Idle, stack: AsyncExitStack
    ) -> AsyncAPIResponse[Any]:
        """Send the request, and again without what the endpoint says it does not know or cannot take."""
        while True:
            used = self._dialect, self._sight
            seen = replace(request, messages=in_sight(request.messages, self._sight))
            body = chat_body(seen, self._endpoint, self._dialect)
            try:
                async with idle.limit():
                    with client.translated():
                        return await stack.enter_async_context(client.chat(body))
            except ProviderError as error:
                self._learn(error, request, body)
                if (self._dialect, self._sight) == used:
                    raise

    def _learn(self, error: ProviderError, request: Request, body: Mapping[str, Any]) -> None:
        """Take from a refusal what can be done otherwise."""
        before, self._dialect = self._dialect, adapted(self._dialect, error, body)
        if self._dialect == before:
            self._sight = learned(self._sight, error, request.messages)


def _connect(endpoint: Endpoint) -> OpenAIClient:
    from hermes_acp.agent.providers.openai_sdk import OpenAIClient

    return OpenAIClient(endpoint)
