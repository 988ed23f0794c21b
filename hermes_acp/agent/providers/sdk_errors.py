"""The errors of the SDKs and of HTTP below them, in our words. Importing this takes some tenths of a second of CPU."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any, cast

import anyio
import httpx2

from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.failures import failure_of, provider_error
from hermes_acp.agent.providers.masking import masked
from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import shorten, visible

CONNECT_TIMEOUT = 15.0
"""Seconds that a connection may take."""

MAX_ERROR_BYTES = 1024 * 1024
"""So much is read of the body of an error."""


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, response: httpx2.Response, body: bytes) -> None:
        super().__init__(f"HTTP status {response.status_code}")
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.url = str(response.url)
        self.body = body


_ERRORS = (
    Refused,
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


@dataclass(frozen=True, slots=True)
class Translation:
    """What errors mean at an endpoint.

    `sdk_error` is the base of the SDK's own; `address_hint` says what may be wrong with the address where
    nothing is found, "" when it looks right.
    """

    endpoint: Endpoint
    sdk_error: type[Exception]
    address_hint: str = ""

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns every error of the SDK, and of what lies below it, into `ProviderError`."""
        try:
            yield
        except (self.sdk_error, *_ERRORS) as error:
            raise self._meaning(error.__cause__ or error) from None

    def _meaning(self, cause: BaseException) -> ProviderError:
        if isinstance(cause, Refused):
            return self._refusal(cause)
        name = self.endpoint.provider
        reason = masked(str(cause) or type(cause).__name__, self.endpoint.api_key)
        if isinstance(cause, httpx2.DecodingError):
            return ProviderError(f"{name} sent bytes that cannot be unpacked ({reason}).", kind="malformed")
        if isinstance(cause, UnicodeEncodeError) or "header value" in reason:
            return ProviderError(f"{name}: the key holds characters that no key has.", kind="auth")
        if isinstance(cause, _UNUSABLE):
            return ProviderError(f"{name}: the request cannot be sent ({reason}).", kind="bad_request")
        message = f"{name}: the connection to {self.endpoint.base_url} failed ({reason})."
        return ProviderError(message, kind="network")

    def _refusal(self, refused: Refused) -> ProviderError:
        if refused.status >= 400:
            failure = failure_of(_value(refused.body), refused.status, refused.headers)
            error = provider_error(failure, self.endpoint.provider, self.endpoint.api_key)
            return error if "model" in failure.message.lower() else self._at_its_address(error, refused.url)
        place = masked(shorten(visible(refused.headers.get("location", "nowhere")), 200), self.endpoint.api_key)
        return ProviderError(
            f"{self.endpoint.provider}: the address redirects to {place}, which is not followed; "
            "correct model.base_url.",
            kind="bad_request",
            status=refused.status,
        )

    def _at_its_address(self, error: ProviderError, url: str) -> ProviderError:
        """The error; of "not found" at an unusual address with that address, since it is most often the fault."""
        if error.status != 404 or not self.address_hint:
            return error
        message = f"{error} (asked at {masked(url, self.endpoint.api_key)}; {self.address_hint})"
        return ProviderError(message, kind=error.kind, status=error.status, retry_after=error.retry_after)


def http_options(endpoint: Endpoint) -> dict[str, Any]:
    """How an SDK's HTTP client is to be made.

    Proxies of the environment are not used for this machine itself, which is asked in plain HTTP: no certificates
    are read for it, and none would be accepted. A redirect is not followed: prompt and key are for the configured
    address alone.
    """
    local = {"trust_env": False, "verify": SSLContext(PROTOCOL_TLS_CLIENT)} if endpoint.is_local else {}
    return {
        **local,
        "follow_redirects": False,
        "event_hooks": {"response": [refuse]},
    }


async def refuse(response: httpx2.Response) -> None:
    """Take the body of an answer that is no success, which the SDK would read whole, however long it is."""
    if not response.is_success:
        raise Refused(response, await at_most(MAX_ERROR_BYTES, response.aiter_bytes()))


async def at_most(most: int, blocks: AsyncIterator[bytes]) -> bytes:
    """The first bytes of an answer; what follows is not read."""
    body = bytearray()
    async with aclosing(cast("AsyncGenerator[bytes, None]", blocks)):
        async for block in blocks:
            body += block
            if len(body) >= most:
                break
    return bytes(body[:most])


def foreign_headers(variable: str) -> list[str]:
    """The names of the headers that an SDK takes from an environment variable: lines of "name: value"."""
    lines = os.environ.get(variable, "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]


def _value(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
