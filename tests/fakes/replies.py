"""What a fake model says: replies as values, and their bytes as Chat Completions events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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


def chunk(delta: Any = None, finish: str | None = None, **top: Any) -> dict[str, Any]:
    """One Chat Completions chunk with one choice; `top` are further fields of the chunk."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [choice],
    } | top


def sse(*chunks: Any, done: bool = True) -> bytes:
    """The event-stream bytes of chunks (objects, or texts sent as they are), with a final `[DONE]`."""
    texts = [item if isinstance(item, str) else _json(item) for item in chunks]
    return "".join(f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]).encode()


def _json(item: Any) -> str:
    """JSON as it is mostly sent: raw UTF-8, and escapes where a text cannot be written so."""
    text = json.dumps(item, ensure_ascii=False)
    return json.dumps(item) if re.search("[\ud800-\udfff]", text) else text


def raw(*chunks: Any, done: bool = True) -> Raw:
    """A reply of exactly these chunks."""
    return Raw((sse(*chunks, done=done),))


async def say_pieces(reply: Say, body: Mapping[str, Any], unique: int) -> AsyncIterator[bytes]:
    """The bytes of a reply: all at once when it has no delays, else delta by delta."""
    deltas = list(_deltas(reply, unique))
    head = sse(chunk({"role": "assistant", "content": ""}), done=False)
    if not reply.token_delay:
        yield head + b"".join(deltas) + _end(reply, body, len(deltas))
        return
    yield head
    for delta in deltas:
        yield delta
        await asyncio.sleep(reply.token_delay)
    yield _end(reply, body, len(deltas))


def _deltas(reply: Say, unique: int) -> list[bytes]:
    return [
        *_texts(reply.reasoning, reply.reasoning_field),
        *_texts(reply.text, "content"),
        *(piece for index, call in enumerate(reply.calls) for piece in _call(index, call, unique)),
    ]


def _texts(text: str | Sequence[str], name: str) -> list[bytes]:
    pieces = WORDS.findall(text) if isinstance(text, str) else text
    before, after = sse(chunk({name: "@"}), done=False).decode().split('"@"')
    return [f"{before}{json.dumps(piece)}{after}".encode() for piece in pieces]


def _call(index: int, call: Call, unique: int) -> list[bytes]:
    head = {"index": index, "id": call.id or f"call_{unique}_{index}", "type": "function"}
    first = {**head, "function": {"name": call.name, "arguments": ""}}
    pieces = [call.text[at : at + 16] for at in range(0, len(call.text), 16)]
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [sse(chunk({"tool_calls": [item]}), done=False) for item in (first, *rest)]


def _end(reply: Say, body: Mapping[str, Any], count: int) -> bytes:
    if reply.error is not None:
        return sse({"error": dict(reply.error)}, done=False)
    if reply.ending != "finish":
        return b""
    finish = chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    if not (body.get("stream_options") or {}).get("include_usage"):
        return sse(finish)
    return sse(finish, {**chunk(), "choices": [], "usage": dict(reply.usage or _counted(body, count))})


def _counted(body: Mapping[str, Any], count: int) -> dict[str, int]:
    sent = len(json.dumps(body.get("messages"))) // 4
    return {"prompt_tokens": sent, "completion_tokens": count, "total_tokens": sent + count}
