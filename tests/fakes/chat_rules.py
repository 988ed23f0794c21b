"""What strict servers demand of a Chat Completions request: the first rule broken, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.picture_rules import broken_picture_rules
from tests.fakes.text_rules import surrogate_rules

ROLES = ("system", "developer", "user", "assistant", "tool")
NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


def broken_rule(body: Any, refused: tuple[str, ...] = ()) -> str:
    """What is wrong with the request, or "". `refused` are fields that this server does not know."""
    return next(_broken(body, refused), "")


def _broken(body: Any, refused: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(body, Mapping):
        yield "the body must be a JSON object"
        return
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "'model' must be a non-empty string"
    if body.get("stream") is not True:
        yield "'stream' must be true here"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(one, Mapping) for one in messages):
        yield "'messages' must be a non-empty list of objects"
        return
    yield from surrogate_rules(body)
    yield from _refused(body, messages, refused)
    yield from _roles(messages)
    for number, message in enumerate(messages):
        yield from (f"messages[{number}]: {problem}" for problem in _message(message))
    yield from broken_picture_rules(messages)
    yield from _pairs(messages)
    yield from _tools(body, messages)


def _refused(body: Mapping[str, Any], messages: list[Any], refused: tuple[str, ...]) -> Iterator[str]:
    for name in refused:
        if name in body or any(name in message for message in messages):
            yield f"Unrecognized request argument supplied: {name}"


def _roles(messages: list[Any]) -> Iterator[str]:
    before = "system"
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in ROLES:
            yield f"messages[{number}]: unsupported role {role!r}"
            return
        if not _follows(before, role, message):
            yield f"messages[{number}]: role {role!r} cannot come after {before!r}"
        before = role
    if before == "system":
        yield "there must be a user message"


def _follows(before: str, role: str, message: Mapping[str, Any]) -> bool:
    match role:
        case "system" | "developer":
            return before == "system"
        case "user":
            return before in ("system", "assistant") or (before == "tool" and _has_image(message))
        case "assistant":
            return before in ("user", "tool")
        case _:
            return before in ("assistant", "tool")


def _has_image(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    content, role = message.get("content"), message.get("role")
    if content is None and role == "assistant" and message.get("tool_calls"):
        yield from _calls(message["tool_calls"])
        return
    if isinstance(content, str):
        if not content.strip():
            yield "text content must not be empty"
    elif isinstance(content, list) and content and role in ("user", "tool", "system"):
        yield from (problem for part in content for problem in _part(part, role))
    else:
        yield f"content of a {role} message must not be {type(content).__name__}"
    yield from _calls(message.get("tool_calls") or [])


def _part(part: Any, role: str) -> Iterator[str]:
    match part:
        case {"type": "text", "text": str(text)}:
            if not text.strip():
                yield "text content must not be empty"
        case {"type": "image_url", "image_url": {"url": str(url)}} if role == "user":
            if not url.startswith(("data:image/", "https://", "http://")):
                yield "an image must be a data or http URL"
        case _:
            yield f"unsupported content part in a {role} message: {str(part)[:80]}"


def _calls(calls: Any) -> Iterator[str]:
    if not isinstance(calls, list):
        yield "'tool_calls' must be a list"
        return
    for call in calls:
        match call:
            case {"id": str(identity), "type": "function", "function": {"name": str(name), "arguments": str(text)}}:
                if not identity:
                    yield "a tool call must have an id"
                if not NAME.fullmatch(name):
                    yield f"tool name {name[:80]!r} does not match {NAME.pattern}"
                yield from _arguments(text)
            case _:
                yield f"malformed tool call {str(call)[:80]}"


def _arguments(text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except ValueError:
        yield f"tool call arguments are not valid JSON: {text[:80]}"
        return
    if not isinstance(value, dict):
        yield f"tool call arguments must be an object: {text[:80]}"


def _pairs(messages: list[Any]) -> Iterator[str]:
    open_ids: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if not open_ids or message.get("tool_call_id") != open_ids[0]:
                expected = repr(open_ids[0]) if open_ids else "none"
                yield f"messages[{number}]: result of {message.get('tool_call_id')!r}, expected {expected}"
                return
            open_ids.pop(0)
            continue
        if open_ids:
            yield f"messages[{number}]: tool calls without results: {', '.join(open_ids)}"
            return
        open_ids = [call["id"] for call in message.get("tool_calls") or []]
        if len({*open_ids}) < len(open_ids) or seen & {*open_ids}:
            yield f"messages[{number}]: a tool call id is used twice"
        seen |= {*open_ids}
    if open_ids:
        yield f"tool calls without results: {', '.join(open_ids)}"


def _tools(body: Mapping[str, Any], messages: list[Any]) -> Iterator[str]:
    tools = body.get("tools")
    if tools is not None:
        yield from _definitions(tools)
    if not tools and any(one["role"] == "tool" or one.get("tool_calls") for one in messages):
        yield "the history has tool calls, but 'tools' is missing"
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools:
        yield "'tool_choice' is only allowed with 'tools'"
    named = isinstance(choice, Mapping) and choice.get("type") == "function"
    if not named and choice not in ("auto", "none", "required"):
        yield f"unknown tool_choice {choice!r}"


def _definitions(tools: Any) -> Iterator[str]:
    if not isinstance(tools, list) or not tools:
        yield "'tools' must be a non-empty list"
        return
    for tool in tools:
        match tool:
            case {"type": "function", "function": {"name": str(name), "parameters": {"type": "object"}}} if name:
                continue
            case _:
                yield f"malformed tool definition {str(tool)[:80]}"
