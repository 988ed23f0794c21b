"""The openai SDK: its client for one endpoint. Importing this takes half a second of CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import anyio
import openai

from hermes_acp.agent.providers.api import Sending
from hermes_acp.agent.providers.codex_account import CODEX_HOST, account_headers
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.sdk_errors import (
    CONNECT_TIMEOUT,
    Translation,
    at_most,
    foreign_headers,
    http_options,
)
from hermes_acp.agent.providers.sse import MAX_BYTES

_OPENAI = "api.openai.com"


class OpenAIClient:
    """The connections to one endpoint. Make it in a thread: it reads certificates and imports a good deal; the
    parts of the SDK for one API, whose types take some hundredths of a second, are made by the client of that API.

    The SDK waits and retries nothing by itself. What it takes from the environment (organisation, project,
    custom headers) goes to OpenAI only.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.translated = Translation(endpoint, openai.OpenAIError, _address_hint(endpoint)).translated
        with self.translated():
            self._client = openai.AsyncOpenAI(
                api_key=endpoint.api_key or "none",
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=openai.Timeout(None, connect=CONNECT_TIMEOUT),
                default_headers=cast(Mapping[str, str], _headers(endpoint)),
                http_client=openai.DefaultAsyncHttpxClient(**http_options(endpoint)),
            )
        # What lies below the SDK is imported by its first use of a loop, and shall not be by the first request.
        anyio.run(anyio.sleep, 0)

    async def models(self, seconds: float) -> bytes:
        """The list of models; see `Client`."""
        with self.translated():
            async with self._client.models.with_streaming_response.list(timeout=seconds) as response:
                return await at_most(MAX_BYTES, response.iter_bytes())

    async def aclose(self) -> None:
        await self._client.close()


class ChatClient(OpenAIClient):
    """A client that speaks Chat Completions."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._completions = self._client.chat.completions.with_streaming_response

    def send(self, body: Mapping[str, Any]) -> Sending:
        """A request. The messages go beside the SDK's own arguments, which it would walk one by one."""
        return self._completions.create(model=self._endpoint.model, messages=[], stream=True, extra_body=body)


class ResponsesClient(OpenAIClient):
    """A client that speaks the Responses API."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._responses = self._client.responses.with_streaming_response

    def send(self, body: Mapping[str, Any]) -> Sending:
        """A request; its input goes beside the SDK's own arguments."""
        return self._responses.create(model=self._endpoint.model, stream=True, extra_body=body)


def _address_hint(endpoint: Endpoint) -> str:
    return "" if endpoint.path.endswith("/v1") or endpoint.host == CODEX_HOST else "should the address end in /v1?"


def _headers(endpoint: Endpoint) -> dict[str, str | openai.Omit]:
    """Headers of our own, over those that the SDK would add from the environment."""
    ours: dict[str, str | openai.Omit] = {"Authorization": f"Bearer {endpoint.api_key or 'none'}"}
    if endpoint.host == _OPENAI:
        return ours
    if endpoint.host == CODEX_HOST:
        ours |= account_headers(endpoint.api_key)
    foreign = ("OpenAI-Organization", "OpenAI-Project", *foreign_headers("OPENAI_CUSTOM_HEADERS"))
    return {name: openai.Omit() for name in foreign} | ours
