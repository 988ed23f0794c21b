"""The reading of one streamed answer, the same for every API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from hermes_acp.agent.providers.base import Delta
from hermes_acp.agent.providers.blocks import Blocks
from hermes_acp.agent.providers.idle import Idle
from hermes_acp.agent.providers.sse import MAX_BYTES, SseDecoder, SseError, SseEvent
from hermes_acp.errors import ProviderError

LAST_WORDS = 5.0
"""Seconds that a server may take for usage and end mark once the reply is whole."""

HANG_UP = 0.1
"""Seconds to wait for the end of a finished stream, so that its connection can be used again."""


class Decoder(Protocol):
    """What makes deltas of an API's events.

    `finished`: the reply is whole, though more may be told of it; `done`: nothing more will come;
    `progress` grows with every event that said something.
    """

    @property
    def finished(self) -> bool: ...

    @property
    def done(self) -> bool: ...

    @property
    def progress(self) -> int: ...

    def decode(self, events: Iterable[SseEvent]) -> Iterator[Delta]:
        """The deltas of some events of a stream."""

    def decode_whole(self, body: bytes) -> Iterator[Delta]:
        """The deltas of an answer in one JSON object: of a failure, or of a server that does not stream."""


class Reading:
    """One answer: its blocks of bytes, the watch on them, and a context that turns an SDK's errors into ours."""

    def __init__(self, blocks: Blocks, idle: Idle, translated: Callable[[], AbstractContextManager[None]]) -> None:
        self._blocks = blocks
        self._idle = idle
        self._translated = translated

    async def deltas(self, decoder: Decoder) -> AsyncGenerator[Delta, None]:
        """The deltas of the event stream, up to its end; whether the reply is whole is for the decoder to say.

        Raises:
            ProviderError: the connection broke, stalled, or sent no event stream, before the reply was whole.
        """
        stream = SseDecoder()
        while not decoder.done:
            before = decoder.progress
            block = await self._next(decoder)
            for delta in decoder.decode(self._events(stream, block)):
                yield delta
            if block is None:
                return
            if decoder.progress > before:
                self._idle.restart(LAST_WORDS if decoder.finished else None)
        if decoder.finished:
            self._idle.restart(HANG_UP)
            await self._next(decoder)

    async def whole(self, decoder: Decoder) -> AsyncGenerator[Delta, None]:
        """The deltas of an answer that is no stream.

        Raises:
            ProviderError: as `deltas` does.
        """
        body = bytearray()
        while (block := await self._next(decoder)) is not None:
            body += block
            if len(body) > MAX_BYTES:
                raise ProviderError("The answer is far too long.", kind="malformed")
        for delta in decoder.decode_whole(bytes(body)):
            yield delta

    async def _next(self, decoder: Decoder) -> bytes | None:
        try:
            async with self._idle.limit():
                with self._translated():
                    return await self._blocks.take()
        except ProviderError:
            if decoder.finished:
                return None
            raise

    def _events(self, stream: SseDecoder, block: bytes | None) -> list[SseEvent]:
        try:
            return stream.close() if block is None else stream.feed(block)
        except SseError as error:
            raise ProviderError(f"The answer cannot be read: {error}.", kind="malformed") from None


def is_stream(content_type: str, provider: str) -> bool:
    """Whether an answer is an event stream, or one JSON object.

    Raises:
        ProviderError: it is a web page ("malformed").
    """
    if "html" in content_type:
        raise ProviderError(f"{provider} answered with a web page; is the address right?", kind="malformed")
    return "json" not in content_type
