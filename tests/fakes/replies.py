"""What a fake model says: replies as values, whatever API they are sent in."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Ending = Literal["finish", "cut", "drop", "reset", "stall", "ping"]
"""How a stream ends. "cut": cleanly but without its finish marker; "drop": closed within the HTTP body;
"reset": TCP reset; "stall": silence for ever; "ping": keep-alive comments for ever."""

PING_EVERY = 0.02
WORDS = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True)
class Call:
    """A tool call of a reply; `arguments` as an object, or as the very text the model writes.

    An empty `id` gets one that no other call of the server has.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Say:
    """A streamed reply: reasoning, then text, then calls.

    `text` and `reasoning` are one string (sent word by word) or the very pieces to send. `finish` None
    means "tool_calls" or "stop", as fits. `usage` None means counted. `error` is sent as an event in place
    of the finish. `first_delay` and `token_delay` are seconds.
    """

    text: str | Sequence[str] = ""
    calls: Sequence[Call] = ()
    reasoning: str | Sequence[str] = ""
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    ending: Ending = "finish"
    first_delay: float = 0.0
    token_delay: float = 0.0
    reasoning_field: str = "reasoning_content"


@dataclass(frozen=True)
class Raw:
    """Bytes of an event stream, each piece written by itself, `delay` seconds apart."""

    pieces: Sequence[bytes]
    ending: Ending = "finish"
    delay: float = 0.0
    content_type: str = "text/event-stream"


@dataclass(frozen=True)
class Status:
    """A plain HTTP answer: an error status, or a 200 that is no event stream."""

    status: int = 500
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    first_delay: float = 0.0

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        body = self.body or {"error": {"message": f"fake {self.status}", "type": "api_error", "code": None}}
        return json.dumps(body).encode()

    @property
    def content_type(self) -> str:
        return "text/html" if isinstance(self.body, str) else "application/json"


Reply = Say | Raw | Status


def fail(status: int, message: str, **error: Any) -> Status:
    """An error answer in OpenAI's form; `error` are further fields of it (type, code, param)."""
    return Status(status, {"error": {"message": message, "type": "invalid_request_error", **error}})


def tokens(count: int) -> tuple[str, ...]:
    """So many deltas of text."""
    return tuple(f"w{number} " for number in range(count))


@dataclass(frozen=True)
class Pieces:
    """The bytes of a reply: what comes before its deltas, each of these, and what ends it."""

    head: bytes
    deltas: Sequence[bytes]
    end: bytes


class Wire(Protocol):
    """An API as the fake speaks it.

    Attributes:
        path: how its addresses end.
        ping: the event that keeps a stream alive.
    """

    path: str
    ping: bytes

    def broken_rule(self, body: Any, refused: tuple[str, ...]) -> str:
        """The first rule that a request breaks, or "". `refused` are fields that this server does not know."""

    def refusal(self, problem: str) -> Status:
        """The answer to a request that breaks a rule."""

    def pieces(self, reply: Say, body: Mapping[str, Any], unique: int) -> Pieces:
        """The bytes of a reply to a request; `unique` differs for each request of a server."""


def words_of(text: str | Sequence[str]) -> Sequence[str]:
    """The pieces in which a text is sent."""
    return WORDS.findall(text) if isinstance(text, str) else text


async def in_time(pieces: Pieces, delay: float) -> AsyncIterator[bytes]:
    """The bytes of a reply: all at once when it has no delay, else delta by delta."""
    if not delay:
        yield pieces.head + b"".join(pieces.deltas) + pieces.end
        return
    yield pieces.head
    for delta in pieces.deltas:
        yield delta
        await asyncio.sleep(delay)
    yield pieces.end
