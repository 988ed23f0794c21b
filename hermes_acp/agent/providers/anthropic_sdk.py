"""The anthropic SDK: its client for one endpoint. Importing this takes more than a second of CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import anthropic
import anyio

from hermes_acp.agent.providers.api import Sending
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.model_list import MAX_MODELS
from hermes_acp.agent.providers.sdk_errors import (
    CONNECT_TIMEOUT,
    Translation,
    at_most,
    foreign_headers,
    http_options,
)
from hermes_acp.agent.providers.sse import MAX_BYTES

COMMON_VERSION = "2023-06-01"
"""The version of the API that servers of others know. Anthropic itself is asked in the SDK's own version."""

_ANTHROPIC = "api.anthropic.com"


class AnthropicClient:
    """The connections to one endpoint. Make it in a thread: it reads certificates and imports a good deal.

    The SDK waits and retries nothing by itself, and tells nobody of what is sent. What it takes from the
    environment (custom headers) goes to Anthropic only.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.translated = Translation(endpoint, anthropic.AnthropicError, _address_hint(endpoint)).translated
        with self.translated():
            self._client = anthropic.AsyncAnthropic(
                api_key=endpoint.api_key or "none",
                base_url=endpoint.base_url.rstrip("/").removesuffix("/v1"),
                max_retries=0,
                timeout=anthropic.Timeout(None, connect=CONNECT_TIMEOUT),
                default_headers=cast(Mapping[str, str], _headers(endpoint)),
                open_telemetry=False,
                http_client=anthropic.DefaultAsyncHttpxClient(**http_options(endpoint)),
            )
            self._messages = self._client.messages.with_streaming_response
        # What lies below the SDK is imported by its first use of a loop, and shall not be by the first request.
        anyio.run(anyio.sleep, 0)

    def messages(self, body: Mapping[str, Any]) -> Sending:
        """A Messages request.

        All of it goes beside the SDK's own arguments: messages it would walk one by one, and of a model's name
        it would print what it thinks of the model.
        """
        whole = {**body, "model": self._endpoint.model}
        return self._messages.create(model="", max_tokens=1, messages=[], stream=True, extra_body=whole)

    async def models(self, seconds: float) -> bytes:
        """The list of models; see `Client`."""
        with self.translated():
            listing = self._client.models.with_streaming_response.list(limit=MAX_MODELS, timeout=seconds)
            async with listing as response:
                return await at_most(MAX_BYTES, response.iter_bytes())

    async def aclose(self) -> None:
        await self._client.close()


def _address_hint(endpoint: Endpoint) -> str:
    return "" if endpoint.host == _ANTHROPIC else "is that where the server has its Messages API?"


def _headers(endpoint: Endpoint) -> dict[str, str | anthropic.Omit]:
    """Headers of our own, over those that the SDK would add. Servers of others look for the key in either place."""
    key = endpoint.api_key or "none"
    version = {"anthropic-version": endpoint.anthropic_version} if endpoint.anthropic_version else {}
    if endpoint.host == _ANTHROPIC:
        return {"Authorization": anthropic.Omit(), "X-Api-Key": key, **version}
    ours = {"Authorization": f"Bearer {key}", "X-Api-Key": key, "anthropic-version": COMMON_VERSION, **version}
    return {name: anthropic.Omit() for name in foreign_headers("ANTHROPIC_CUSTOM_HEADERS")} | ours
