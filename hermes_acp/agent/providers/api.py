"""What a model API has of its own; everything else about asking a model is `RemoteModel`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from hermes_acp.agent.providers.base import Reply, Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.reading import Decoder
from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass


class Response(Protocol):
    """An answer whose headers have come. It is as the SDK gives it: both SDKs agree in this."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]: ...


Sending = AbstractAsyncContextManager[Response]
"""A request; sent, and its headers awaited, on entering."""


class Client(Protocol):
    """The connections to one endpoint."""

    def translated(self) -> AbstractContextManager[None]:
        """A context that turns every error of the SDK, and of what lies below it, into `ProviderError`."""

    async def models(self, seconds: float) -> bytes:
        """The endpoint's list of models as it comes, within so many seconds.

        Raises:
            ProviderError: it gives none.
        """

    async def aclose(self) -> None: ...


class ReplyDecoder(Decoder, Protocol):
    """A decoder that ends with a reply."""

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ProviderError: the stream ended before its terminal event ("incomplete").
        """


DialectT = TypeVar("DialectT")
ClientT = TypeVar("ClientT", bound=Client)


@dataclass(frozen=True, slots=True)
class Api(Generic[DialectT, ClientT]):
    """An API in its parts.

    Attributes:
        dialect: what every endpoint is first taken to understand; a value that compares by content.
        body: the JSON body of a request in a dialect. It is made again after each thing learned.
        adapted: the dialect as a refusal of a body teaches it; an equal one when it teaches nothing.
        decoder: what makes deltas of one answer.
        connect: makes the client. It is called in a thread, and the only one that may import an SDK.
        send: how a body is sent.
    """

    dialect: DialectT
    body: Callable[[Request, Endpoint, DialectT], dict[str, Any]]
    adapted: Callable[[DialectT, ProviderError, Mapping[str, Any]], DialectT]
    decoder: Callable[[Endpoint], ReplyDecoder]
    connect: Callable[[Endpoint], ClientT]
    send: Callable[[ClientT, Mapping[str, Any]], Sending]
