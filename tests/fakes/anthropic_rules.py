"""What Anthropic demands of a Messages request: the first rule broken, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.anthropic_turns import Given, broken_turns
from tests.fakes.picture_rules import broken_url_rules
from tests.fakes.text_rules import surrogate_rules

FIELDS = {
    *("model", "max_tokens", "messages", "stream", "system", "tools", "tool_choice", "thinking", "output_config"),
    *("stop_sequences", "metadata", "service_tier", "cache_control"),
}
NAME = re.compile("[a-zA-Z0-9_-]{1,128}")
MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
MOST_MARKERS = 4

__all__ = ["Given", "broken_rule"]


def broken_rule(body: Any, refused: tuple[str, ...] = (), given: Given | None = None) -> str:
    """What is wrong with the request, or "".

    Args:
        body: the request.
        refused: fields that this server does not know.
        given: the thoughts that this server gave, by their signatures; those of others are not known.
    """
    return next(_broken(body, refused, given or {}), "")


def _broken(body: Any, refused: tuple[str, ...], given: Given) -> Iterator[str]:
    if not isinstance(body, Mapping):
        yield "the body must be a JSON object"
        return
    yield from surrogate_rules(body)
    yield from (f"{name}: Extra inputs are not permitted" for name in body if name not in FIELDS)
    yield from (f"{name}: Extra inputs are not permitted" for name in _names(body) if name in refused)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: Field required"
    if body.get("stream") is not True:
        yield "stream: must be true here"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(one, Mapping) for one in messages):
        yield "messages: Field required"
        return
    yield from _system(body.get("system", "-"))
    yield from _thinking(body)
    for number, message in enumerate(messages):
        yield from (f"messages.{number}.{problem}" for problem in _message(message))
    yield from _tools(body)
    yield from broken_turns(body, given)
    yield from _markers(body)
    yield from broken_url_rules(_pictures(messages))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            if name not in ("input", "input_schema"):
                yield from _names(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _system(system: Any) -> Iterator[str]:
    if isinstance(system, str):
        if not system.strip():
            yield "system: text content must be non-empty"
    elif isinstance(system, list):
        yield from (f"system.{problem}" for block in system for problem in _block(block, "system"))
    else:
        yield "system: must be a text or a list"


def _thinking(body: Mapping[str, Any]) -> Iterator[str]:
    match body.get("thinking", {"type": "disabled"}):
        case {"type": "enabled", "budget_tokens": int(budget)}:
            if budget < 1024:
                yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
            if budget >= body["max_tokens"]:
                yield "`max_tokens` must be greater than `thinking.budget_tokens`"
        case {"type": "adaptive", **more} if set(more) <= {"display"}:
            pass
        case {"type": "disabled"}:
            pass
        case other:
            yield f"thinking: Input should be enabled, adaptive or disabled, not {other}"
    effort = body.get("output_config", {}).get("effort", "high")
    if effort not in EFFORTS:
        yield f"output_config.effort: Input should be one of {EFFORTS}, not {effort!r}"


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        yield f"role: Input should be 'user' or 'assistant', not {role!r}"
    elif isinstance(content, str):
        if not content.strip():
            yield "content: text content must be non-empty"
    elif not isinstance(content, list) or not content:
        yield "content: must be a non-empty list"
    else:
        for number, block in enumerate(content):
            yield from (f"content.{number}: {problem}" for problem in _block(block, role))


def _block(block: Any, place: str) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            if not text:
                yield "text content blocks must be non-empty"
            elif not text.strip():
                yield "text content blocks must contain non-whitespace text"
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": str()}} if place != "assistant":
            if kind not in MEDIA_TYPES:
                yield f"media_type: Input should be one of {MEDIA_TYPES}, not {kind!r}"
        case {"type": "tool_use", "id": str(), "name": str(name), "input": dict()} if place == "assistant":
            if not NAME.fullmatch(name):
                yield f"tool_use.name: {name[:80]!r} does not match {NAME.pattern}"
        case {"type": "tool_result", "tool_use_id": str()} if place == "user":
            yield from _result(block)
        case {"type": "thinking", "thinking": str(), "signature": str()} if place == "assistant":
            pass
        case {"type": "redacted_thinking", "data": str()} if place == "assistant":
            pass
        case _:
            yield f"unsupported block in {place}: {str(block)[:120]}"


def _result(block: Mapping[str, Any]) -> Iterator[str]:
    content = block.get("content", "-")
    if isinstance(content, str):
        return
    for item in content:
        if item.get("type") not in ("text", "image"):
            yield f"tool_result.content: unsupported {item.get('type')}"
        yield from _block(item, "tool_result")
    if block.get("is_error") and any(item.get("type") != "text" for item in content):
        yield "tool_result: all content must be type `text` if `is_error` is true"


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    tools = body.get("tools", [])
    for number, tool in enumerate(tools):
        match tool:
            case {"name": str(name), "input_schema": {"type": "object"}} if NAME.fullmatch(name):
                continue
            case _:
                yield f"tools.{number}: malformed definition {str(tool)[:120]}"
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique"
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools:
        yield "tool_choice: may only be specified while providing tools"
    if not isinstance(choice, Mapping) or choice.get("type") not in ("auto", "any", "tool", "none"):
        yield f"tool_choice: unknown {choice!r}"


def _markers(body: Mapping[str, Any]) -> Iterator[str]:
    marked = list(_marked(body))
    if len(marked) > MOST_MARKERS:
        yield f"A maximum of {MOST_MARKERS} blocks with cache_control may be provided. Found {len(marked)}."
    for block in marked:
        if "thinking" in block.get("type", ""):
            yield "cache_control: not allowed on thinking blocks"
        if block["cache_control"].get("type") != "ephemeral":
            yield "cache_control.type: Input should be 'ephemeral'"


def _marked(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "cache_control" in value:
            yield value
        for inner in value.values():
            yield from _marked(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _marked(item)


def _pictures(value: Any) -> Iterator[str]:
    """Each picture as a data URL."""
    if isinstance(value, Mapping):
        if value.get("type") == "base64":
            yield f"data:{value['media_type']};base64,{value['data']}"
        for inner in value.values():
            yield from _pictures(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _pictures(item)
