"""The order of a Responses reply: which of its parts stood where, and the reasoning items between them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_acp.agent.providers.encoding import replayed
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.passages import BETWEEN
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.messages import AssistantMessage, Opaque, ToolCall

_REASONING_FIELDS: Mapping[str, type] = {"id": str, "summary": list, "encrypted_content": str, "content": list}

Entry = Mapping[str, Any]
"""One item of a reply: a reasoning item as it came, or the id (and phase, and length) of a message or call."""

Part = str | ToolCall | None


def reasoning_entry(item: Entry) -> Entry:
    """A reasoning item, with what a request may give back of it."""
    kept = {name: item[name] for name, kind in _REASONING_FIELDS.items() if isinstance(item.get(name), kind)}
    return {"type": "reasoning", "summary": [], **kept}


def message_entry(item: Entry, length: int) -> Entry:
    """A message of so many characters."""
    return {"type": "message", "length": length} | _named(item, "id", "phase")


def call_entry(item: Entry) -> Entry:
    """A call of a tool."""
    return {"type": "function_call"} | _named(item, "id")


def kept_layout(entries: Sequence[Entry], endpoint: Endpoint) -> Opaque | None:
    """The layout to be kept with a message; None when it says nothing that matters in a later request.

    Reasoning that is not self-contained (neither encrypted nor readable) cannot be given back, since nothing
    is stored at the server.
    """
    entries = [entry for entry in entries if entry["type"] != "reasoning" or is_whole(entry)]
    if not any(entry["type"] == "reasoning" or "phase" in entry for entry in entries):
        return None
    try:
        data = {"output": json.loads(mend(json.dumps(entries, ensure_ascii=False, allow_nan=False)))}
    except (ValueError, RecursionError):
        return None
    return Opaque(endpoint.provider, endpoint.model, data)


def is_whole(reasoning: Entry) -> bool:
    """Whether a reasoning item holds all that the server needs of it."""
    return bool(reasoning.get("encrypted_content") or reasoning.get("content"))


def layout_of(message: AssistantMessage, endpoint: Endpoint) -> Sequence[Entry]:
    """The layout kept with a message, if this endpoint gave it and it still fits the message; else ()."""
    entries = replayed(message.opaque, endpoint).get("output")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        return ()
    return entries if _fits(entries, message) else ()


def laid_out(message: AssistantMessage, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Part]]:
    """Each entry with its part of the message: a text, a call, or None for reasoning.

    A reasoning item comes only with the item after it: alone, or before a blank text, it would be refused.
    """
    waiting: list[tuple[Entry, Part]] = []
    for entry, part in _parts(message, entries):
        if part is None:
            waiting.append((entry, part))
            continue
        if not isinstance(part, str) or part.strip():
            yield from waiting
            yield entry, part
        waiting.clear()


def _parts(message: AssistantMessage, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Part]]:
    calls, at = iter(message.tool_calls), 0
    for entry in entries:
        match entry["type"]:
            case "message":
                end = at + entry["length"]
                yield entry, message.text[at:end]
                at = end + len(BETWEEN) if entry["length"] else at
            case "function_call":
                yield entry, next(calls)
            case _:
                yield entry, None


def _fits(entries: Sequence[Entry], message: AssistantMessage) -> bool:
    kinds = [entry.get("type") for entry in entries]
    lengths = [entry["length"] for entry in entries if entry.get("type") == "message" and entry.get("length")]
    total = sum(lengths) + len(BETWEEN) * max(len(lengths) - 1, 0)
    return kinds.count("function_call") == len(message.tool_calls) and total == len(message.text)


def _named(item: Entry, *names: str) -> dict[str, str]:
    return {name: item[name] for name in names if item.get(name) and isinstance(item[name], str)}
