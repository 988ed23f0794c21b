"""The fake's Chat Completions API: replies as its events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.chat_rules import broken_rule
from tests.fakes.replies import Call, Pieces, Raw, Say, Status, fail, words_of


class ChatWire:
    """Chat Completions as the fake speaks it; see `Wire`."""

    path = "/chat/completions"
    ping = b": ping\n\n"

    def broken_rule(self, body: Any, refused: tuple[str, ...]) -> str:
        return broken_rule(body, refused)

    def refusal(self, problem: str) -> Status:
        return fail(400, problem)

    def pieces(self, reply: Say, body: Mapping[str, Any], unique: int) -> Pieces:
        deltas = _deltas(reply, unique)
        head = sse(chunk({"role": "assistant", "content": ""}), done=False)
        return Pieces(head, deltas, _end(reply, body, len(deltas)))


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
    texts = [item if isinstance(item, str) else in_json(item) for item in chunks]
    return "".join(f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]).encode()


def in_json(item: Any) -> str:
    """JSON as it is mostly sent: raw UTF-8, and escapes where a text cannot be written so."""
    text = json.dumps(item, ensure_ascii=False)
    return json.dumps(item) if re.search("[\ud800-\udfff]", text) else text


def raw(*chunks: Any, done: bool = True) -> Raw:
    """A reply of exactly these chunks."""
    return Raw((sse(*chunks, done=done),))


def _deltas(reply: Say, unique: int) -> list[bytes]:
    return [
        *_texts(reply.reasoning, reply.reasoning_field),
        *_texts(reply.text, "content"),
        *(piece for index, call in enumerate(reply.calls) for piece in _call(index, call, unique)),
    ]


def _texts(text: str | Sequence[str], name: str) -> list[bytes]:
    before, after = sse(chunk({name: "@"}), done=False).decode().split('"@"')
    return [f"{before}{json.dumps(piece)}{after}".encode() for piece in words_of(text)]


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
