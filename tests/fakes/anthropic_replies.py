"""The fake's Messages API: replies as its events, with signatures that it knows again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from tests.fakes.anthropic_rules import Given, broken_rule
from tests.fakes.replies import Call, Pieces, Raw, Say, Status, words_of

FINISHES = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
"""The finishes of a script in Anthropic's words; others are sent as they are."""


class MessagesWire:
    """The Messages API as the fake speaks it; see `Wire`. It remembers the thoughts that it gave."""

    path = "/v1/messages"
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self) -> None:
        self._given: Given = {}

    def broken_rule(self, body: Any, refused: tuple[str, ...]) -> str:
        return broken_rule(body, refused, self._given)

    def refusal(self, problem: str) -> Status:
        return refused(problem)

    def pieces(self, reply: Say, body: Mapping[str, Any], unique: int) -> Pieces:
        deltas = list(self._deltas(reply, unique))
        usage = _usage(reply, body, len(deltas))
        started = {"id": f"msg_{unique}", "type": "message", "role": "assistant", "model": "fake", "content": []}
        head = events({"type": "message_start", "message": started | {"usage": {**usage, "output_tokens": 1}}})
        return Pieces(head, deltas, _end(reply, usage))

    def _deltas(self, reply: Say, unique: int) -> Iterator[bytes]:
        number = 0
        if reply.reasoning:
            thought = "".join(reply.reasoning).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            signature = signed(f"{unique}:{thought}")
            layout = [signature, *(["text"] if "".join(reply.text).strip() else []), *(["tool_use"] * len(reply.calls))]
            self._given[signature] = (thought, tuple(layout))
            yield from thinking(number, reply.reasoning, signature)
            number += 1
        if reply.text:
            yield from text(number, reply.text)
            number += 1
        for index, call in enumerate(reply.calls):
            yield from tool_use(number + index, call, f"toolu_{unique}_{index}")


def events(*items: Any) -> bytes:
    """The event-stream bytes of events (objects, or texts sent as they are)."""
    return "".join(item if isinstance(item, str) else _event(item) for item in items).encode()


def raw(*items: Any) -> Raw:
    """A reply of exactly these events."""
    return Raw((events(*items),))


def start(index: int, **block: Any) -> dict[str, Any]:
    """The beginning of a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    """A delta of a block, such as `delta(0, "text_delta", text="a")`."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    """The end of a block."""
    return {"type": "content_block_stop", "index": index}


BEGIN = {"type": "message_start", "message": {"type": "message", "role": "assistant", "model": "fake", "content": []}}


def end(reason: str = "end_turn", **usage: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two events that end a reply."""
    told = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    return told, {"type": "message_stop"}


def refused(message: str, status: int = 400, kind: str = "invalid_request_error") -> Status:
    """An error answer in Anthropic's form."""
    return Status(status, {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})


def signed(thought: str) -> str:
    """The signature of a thought."""
    return f"sig+{sha256(thought.encode()).hexdigest()}=="


def text(index: int, pieces: str | Sequence[str]) -> list[bytes]:
    """The events of a block of text, a delta each."""
    words = [events(delta(index, "text_delta", text=piece)) for piece in words_of(pieces)]
    return _around(words, start(index, type="text", text=""), stop(index))


def thinking(index: int, pieces: str | Sequence[str], signature: str) -> list[bytes]:
    """The events of a block of thought, a delta each."""
    words = [events(delta(index, "thinking_delta", thinking=piece)) for piece in words_of(pieces)]
    words.append(events(delta(index, "signature_delta", signature=signature)))
    return _around(words, start(index, type="thinking", thinking="", signature=""), stop(index))


def tool_use(index: int, call: Call, identity: str) -> list[bytes]:
    """The events of a call, its arguments in small pieces; an empty one comes first, as from Anthropic."""
    pieces = ["", *(call.text[at : at + 16] for at in range(0, len(call.text), 16))] if call.text != "{}" else [""]
    parts = [events(delta(index, "input_json_delta", partial_json=piece)) for piece in pieces]
    first = start(index, type="tool_use", id=call.id or identity, name=call.name, input={})
    return _around(parts, first, stop(index))


def _around(parts: list[bytes], first: Any, last: Any) -> list[bytes]:
    """Deltas with what comes before the first and after the last of them."""
    parts = parts or [b""]
    parts[0] = events(first) + parts[0]
    parts[-1] += events(last)
    return parts


def _end(reply: Say, usage: Mapping[str, Any]) -> bytes:
    if reply.error is not None:
        return events({"type": "error", "error": dict(reply.error)})
    if reply.ending != "finish":
        return b""
    reason = reply.finish or ("tool_calls" if reply.calls else "stop")
    told, last = end(FINISHES.get(reason, reason))
    return events(told | {"usage": usage}, last)


def _usage(reply: Say, body: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The usage of a script, which is in OpenAI's words, in Anthropic's; what was cached is counted apart."""
    told = reply.usage or {"prompt_tokens": len(json.dumps(body.get("messages"))) // 4, "completion_tokens": count}
    cached = told.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    thought = told.get("completion_tokens_details", {}).get("reasoning_tokens")
    usage = {
        "input_tokens": told["prompt_tokens"] - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": told["completion_tokens"],
    }
    return usage | ({} if thought is None else {"output_tokens_details": {"thinking_tokens": thought}})


def _event(item: Mapping[str, Any]) -> str:
    return f"event: {item['type']}\ndata: {json.dumps(item)}\n\n"
