"""What Anthropic demands of the turns of a Messages request: pairs of calls and results, thoughts as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Given = dict[str, tuple[str, tuple[str, ...]]]
"""The thoughts that were given: by signature, their text and the layout of their reply."""

ID = re.compile("[a-zA-Z0-9_-]+")
REDACTED = "redacted+"
"""How the data of hidden thoughts begins that are known."""


def broken_turns(body: Mapping[str, Any], given: Given) -> Iterator[str]:
    """What is wrong with the order of a request's messages and blocks."""
    messages = body["messages"]
    if messages[0].get("role") != "user":
        yield "messages: first message must use the 'user' role"
    if messages[-1].get("role") != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    yield from _pairs(messages, bool(body.get("tools")))
    for number, message in enumerate(messages):
        if message.get("role") == "assistant":
            yield from (f"messages.{number}.{problem}" for problem in _thoughts(_blocks(message), given))
    if body.get("thinking", {}).get("type") == "enabled":
        yield from _begins_with_thought(messages)


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pairs(messages: list[Any], has_tools: bool) -> Iterator[str]:
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        blocks = _blocks(message)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if results != waiting:
            yield f"messages.{number}: `tool_result` of {results}, but the `tool_use` before it are {waiting}"
            return
        if results and any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield f"messages.{number}: `tool_result` blocks must come first"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        yield from (f"messages.{number}: tool_use.id {one!r} is not valid" for one in waiting if not ID.fullmatch(one))
        if len({*waiting}) < len(waiting) or seen & {*waiting}:
            yield f"messages.{number}: `tool_use` ids must be unique"
        seen |= {*waiting}
    if waiting:
        yield f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(waiting)}"
    if seen and not has_tools:
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"


def _thoughts(blocks: list[Mapping[str, Any]], given: Given) -> Iterator[str]:
    if "thinking" in blocks[-1]["type"]:
        yield "content: The final block in an assistant message cannot be `thinking`."
    for number, block in enumerate(blocks):
        if block["type"] == "redacted_thinking" and not block["data"].startswith(REDACTED):
            yield f"content.{number}: Invalid `data` in `redacted_thinking` block"
        if block["type"] != "thinking":
            continue
        thought, layout = given.get(block["signature"], (None, ()))
        if thought is None or set(block) - {"type", "thinking", "signature"}:
            yield f"content.{number}: Invalid `signature` in `thinking` block"
        elif block["thinking"] != thought or tuple(_layout(blocks)) != layout:
            yield f"content.{number}: `thinking` or `redacted_thinking` blocks cannot be modified"


def _layout(blocks: list[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        yield block["signature"] if block["type"] == "thinking" else block["type"]


def _begins_with_thought(messages: list[Any]) -> Iterator[str]:
    """Where a budget of thinking is given, a turn that goes on began with a thought."""
    first: Mapping[str, Any] | None = None
    for message in reversed(messages):
        blocks = _blocks(message)
        if message["role"] == "assistant":
            first = blocks[0]
        elif all(block["type"] != "tool_result" for block in blocks):
            break
    if first is not None and "thinking" not in first["type"]:
        yield f"messages: Expected `thinking` or `redacted_thinking`, but found `{first['type']}`."
