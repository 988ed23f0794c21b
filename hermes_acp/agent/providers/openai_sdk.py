"""The openai SDK: its client, and its errors in our words. Importing this takes half a second of CPU."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import openai

from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.failures import failure_of, provider_error
from hermes_acp.agent.providers.masking import masked
from hermes_acp.agent.providers.sse import MAX_BYTES
from hermes_acp.errors import ProviderError
from hermes_acp.text import shorten, visible

CONNECT_TIMEOUT = 15.0
_OPENAI = "api.openai.com"


class _Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.headers = headers
        self.body = body


_ERRORS = (
    _Refused,
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    anyio.EndOfStream,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    OSError,
    ValueError,
)
_UNUSABLE = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL, ValueError)

MAX_ERROR_BYTES = 1024 * 1024
"""So much is read of the body of an error."""

Response = AbstractAsyncContextManager[openai.AsyncAPIResponse[Any]]


class OpenAIClient:
    """The connections to one endpoint. Make it in a thread: it reads certificates and imports a good deal.

    The SDK waits and retries nothing by itself. What it takes from the environment (organisation, project,
    custom headers) goes to OpenAI only. Proxies of the environment are not used for this machine itself.
    A redirect is not followed: prompt and key are for the configured address alone.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        with self.translated():
            self._client = openai.AsyncOpenAI(
                api_key=endpoint.api_key or "none",
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=openai.Timeout(None, connect=CONNECT_TIMEOUT),
                default_headers=cast(Mapping[str, str], _headers(endpoint)),
                http_client=openai.DefaultAsyncHttpxClient(
                    trust_env=not endpoint.is_local, follow_redirects=False, event_hooks={"response": [_refuse]}
                ),
            )
        self._completions = self._client.chat.completions.with_streaming_response
        # What lies below the SDK is imported by its first use of a loop, and shall not be by the first request.
        anyio.run(anyio.sleep, 0)

    def chat(self, body: Mapping[str, Any]) -> Response:
        """A Chat Completions request; sent, and its headers awaited, on entering.

        The messages go beside the SDK's own arguments, which it would walk one by one.
        """
        return self._completions.create(model=self._endpoint.model, messages=[], stream=True, extra_body=body)

    async def models(self, seconds: float) -> bytes:
        """The endpoint's list of models as it comes, within so many seconds.

        Raises:
            ProviderError: it gives none.
        """
        with self.translated():
            async with self._client.models.with_streaming_response.list(timeout=seconds) as response:
                return await _at_most(MAX_BYTES, response.iter_bytes())

    async def aclose(self) -> None:
        await self._client.close()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns every error of the SDK, and of what lies below it, into `ProviderError`."""
        try:
            yield
        except _ERRORS as error:
            raise _translation(error, self._endpoint) from None


def _translation(error: Exception, endpoint: Endpoint) -> ProviderError:
    cause = error.__cause__ or error
    if isinstance(cause, _Refused):
        return _refusal(cause, endpoint)
    reason = masked(str(cause) or type(cause).__name__, endpoint.api_key)
    if isinstance(cause, httpx2.DecodingError):
        return ProviderError(f"{endpoint.name} sent bytes that cannot be unpacked ({reason}).", kind="malformed")
    if isinstance(cause, UnicodeEncodeError) or "header value" in reason:
        return ProviderError(f"{endpoint.name}: the key holds characters that no key has.", kind="auth")
    if isinstance(cause, _UNUSABLE):
        return ProviderError(f"{endpoint.name}: the request cannot be sent ({reason}).", kind="bad_request")
    return ProviderError(f"{endpoint.name}: the connection to {endpoint.base_url} failed ({reason}).", kind="network")


def _at_its_address(error: ProviderError, endpoint: Endpoint) -> ProviderError:
    """The error; of "not found" at an unusual address with that address, since it is most often the fault."""
    if error.status != 404 or urlsplit(endpoint.base_url).path.rstrip("/").endswith("/v1"):
        return error
    message = f"{error} (asked at {endpoint.base_url}/chat/completions; should the address end in /v1?)"
    return ProviderError(message, kind=error.kind, status=error.status, retry_after=error.retry_after)


def _refusal(refused: _Refused, endpoint: Endpoint) -> ProviderError:
    if refused.status >= 400:
        failure = failure_of(_value(refused.body), refused.status, refused.headers)
        return _at_its_address(provider_error(failure, endpoint.name, endpoint.api_key), endpoint)
    place = masked(shorten(visible(refused.headers.get("location", "nowhere")), 200), endpoint.api_key)
    return ProviderError(
        f"{endpoint.name}: the address redirects to {place}, which is not followed; correct model.base_url.",
        kind="bad_request",
        status=refused.status,
    )


async def _refuse(response: httpx2.Response) -> None:
    """Take the body of an answer that is no success, which the SDK would read whole, however long it is."""
    if not response.is_success:
        body = await _at_most(MAX_ERROR_BYTES, response.aiter_bytes())
        raise _Refused(response.status_code, response.headers, body)


async def _at_most(most: int, blocks: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async with aclosing(cast("AsyncGenerator[bytes, None]", blocks)):
        async for block in blocks:
            body += block
            if len(body) >= most:
                break
    return bytes(body[:most])


def _value(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _headers(endpoint: Endpoint) -> dict[str, str | openai.Omit]:
    """Headers of our own, over those that the SDK would add from the environment."""
    ours: dict[str, str | openai.Omit] = {"Authorization": f"Bearer {endpoint.api_key or 'none'}"}
    if endpoint.host == _OPENAI:
        return ours
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    foreign = (line.partition(":")[0].strip() for line in lines if ":" in line)
    return {name: openai.Omit() for name in ("OpenAI-Organization", "OpenAI-Project", *foreign)} | ours
