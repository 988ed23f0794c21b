"""The fake's Responses API: replies as its events."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.chat_replies import in_json
from tests.fakes.replies import Pieces, Raw, Say, Status, fail, words_of
from tests.fakes.responses_memory import Memory
from tests.fakes.responses_rules import broken_rule

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
REFUSED = "refusal"


class ResponsesWire:
    """The Responses API as the fake speaks it; see `Wire`. It remembers what it gave."""

    path = "/responses"
    ping = b'event: keepalive\ndata: {"type":"keepalive","sequence_number":0}\n\n'

    def __init__(self) -> None:
        self._memory = Memory()
        self._mark = secrets.token_hex(4)

    def broken_rule(self, body: Any, refused: tuple[str, ...]) -> str:
        return broken_rule(body, refused, self._memory)

    def refusal(self, problem: str) -> Status:
        return fail(400, problem)

    def pieces(self, reply: Say, body: Mapping[str, Any], unique: int) -> Pieces:
        output = output_of(reply, f"{self._mark}_{unique}")
        encrypted = "reasoning.encrypted_content" in (body.get("include") or ())
        given = [item if encrypted else _unencrypted(item) for item in output]
        self._memory.keep(output)
        response = _response(body, unique)
        head = events(_event("created", response=response), _event("in_progress", response=response))
        parts = _pieces_of(reply)
        deltas = [events(one) for number, item in enumerate(given) for one in _told(number, item, parts[number])]
        return Pieces(head, deltas, _end(reply, response, given, len(deltas)))


def output_of(reply: Say, unique: str) -> list[dict[str, Any]]:
    """The items of a reply: reasoning, a message, calls."""
    output: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": "".join(reply.reasoning)}]
        output.append(
            {"id": f"rs_{unique}", "type": "reasoning", "summary": summary, "encrypted_content": f"gAAAAABo{unique}=="}
        )
    if reply.text:
        output.append(_message(reply, unique))
    for number, call in enumerate(reply.calls):
        output.append(
            {
                "id": f"fc_{unique}_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.id or f"call_{unique}_{number}",
                "name": call.name,
                "arguments": call.text,
            }
        )
    return output


def _message(reply: Say, unique: str) -> dict[str, Any]:
    text = "".join(reply.text)
    said = {"type": "output_text", "text": text, "annotations": []}
    part = {"type": "refusal", "refusal": text} if reply.finish == REFUSED else said
    return {"id": f"msg_{unique}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def event(kind: str, number: int = 0, **fields: Any) -> dict[str, Any]:
    """One event about the item of this number; `kind` without its first word."""
    return _event(kind, output_index=number, **fields)


def events(*told: Any) -> bytes:
    """The event-stream bytes of events (objects, or texts sent as they are)."""
    return "".join(
        f"data: {one}\n\n" if isinstance(one, str) else f"event: {one.get('type')}\ndata: {in_json(one)}\n\n"
        for one in told
    ).encode()


def raw_events(*told: Any) -> Raw:
    """A reply of exactly these events."""
    return Raw((events(*told),))


def completed(*output: Any, **fields: Any) -> dict[str, Any]:
    """The terminal event of a reply with these items; `fields` are further fields of the response."""
    response = {"id": "resp_1", "object": "response", "status": "completed", "model": "fake"}
    return _event("completed", response={**response, "output": list(output), **fields})


def _event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "sequence_number": 0, **fields}


def _response(body: Mapping[str, Any], unique: int) -> dict[str, Any]:
    return {
        "id": f"resp_{unique}",
        "object": "response",
        "created_at": 1,
        "status": "in_progress",
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


def _unencrypted(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "encrypted_content"}


def _pieces_of(reply: Say) -> list[Sequence[str]]:
    """The pieces in which the items of a reply are streamed, in the items' order."""
    texts = [words_of(text) for text in (reply.reasoning, reply.text) if text]
    return [*texts, *([call.text[at : at + 16] for at in range(0, len(call.text), 16)] for call in reply.calls)]


def _told(number: int, item: dict[str, Any], pieces: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The events of one item."""
    about = {"number": number, "item_id": item["id"]}
    match item["type"]:
        case "reasoning":
            yield event("output_item.added", number, item={**item, "summary": []})
            place = {**about, "summary_index": 0}
            part = item["summary"][0]
            yield event("reasoning_summary_part.added", **place, part={**part, "text": ""})
            for piece in pieces:
                yield event("reasoning_summary_text.delta", **place, delta=piece)
            yield event("reasoning_summary_text.done", **place, text=part["text"])
            yield event("reasoning_summary_part.done", **place, part=part)
        case "message":
            yield from _told_message(number, item, pieces)
        case _:
            yield event("output_item.added", number, item={**item, "arguments": "", "status": "in_progress"})
            for piece in pieces:
                yield event("function_call_arguments.delta", **about, delta=piece)
            yield event("function_call_arguments.done", **about, arguments=item["arguments"], name=item["name"])
    yield event("output_item.done", number, item=item)


def _told_message(number: int, item: dict[str, Any], pieces: Sequence[str]) -> Iterator[dict[str, Any]]:
    part = item["content"][0]
    name = "refusal" if part["type"] == "refusal" else "text"
    kind = "refusal" if name == "refusal" else "output_text"
    place = {"number": number, "item_id": item["id"], "content_index": 0}
    extra = {} if name == "refusal" else {"logprobs": []}
    yield event("output_item.added", number, item={**item, "content": [], "status": "in_progress"})
    yield event("content_part.added", **place, part={**part, name: ""})
    for piece in pieces:
        yield event(f"{kind}.delta", **place, delta=piece, **extra)
    yield event(f"{kind}.done", **place, **{name: part[name]}, **extra)
    yield event("content_part.done", **place, part=part)


def _end(reply: Say, response: dict[str, Any], output: list[dict[str, Any]], count: int) -> bytes:
    if reply.error is not None:
        return events({"type": "error", "sequence_number": 0, "error": dict(reply.error)})
    if reply.ending != "finish":
        return b""
    reason = INCOMPLETE.get(reply.finish or "")
    status = "incomplete" if reason else "completed"
    ended = {
        **response,
        "status": status,
        "output": output,
        "incomplete_details": {"reason": reason} if reason else None,
        "usage": _usage(reply, count),
    }
    return events(_event(status, response=ended))


def _usage(reply: Say, count: int) -> dict[str, Any]:
    told = reply.usage or {}
    sent, written = told.get("prompt_tokens", 1), told.get("completion_tokens", count)
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": len(json.dumps(reply.reasoning)) // 4 if reply.reasoning else 0},
        "total_tokens": sent + written,
    }
