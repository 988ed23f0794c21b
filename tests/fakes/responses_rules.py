"""What strict servers demand of a Responses request: the first rule broken, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.picture_rules import broken_url_rules
from tests.fakes.responses_memory import Memory
from tests.fakes.text_rules import surrogate_rules

NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
INCLUDABLE = ("reasoning.encrypted_content",)
KNOWN = frozenset(
    {
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "model",
        "parallel_tool_calls",
        "reasoning",
        "store",
        "stream",
        "tool_choice",
        "tools",
    }
)
_FIELDS = {
    "message": {"type", "id", "role", "content", "status", "phase"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
}


def broken_rule(body: Any, refused: tuple[str, ...] = (), memory: Memory | None = None) -> str:
    """What is wrong with the request, or "". `refused` are fields that this server does not know."""
    return next(_broken(body, refused, memory or Memory()), "")


def _broken(body: Any, refused: tuple[str, ...], memory: Memory) -> Iterator[str]:
    if not isinstance(body, Mapping):
        yield "the body must be a JSON object"
        return
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "'model' must be a non-empty string"
    if body.get("stream") is not True:
        yield "'stream' must be true here"
    yield from surrogate_rules(body)
    yield from _fields(body, refused)
    items = body.get("input")
    if not isinstance(items, list) or not items or not all(isinstance(one, Mapping) for one in items):
        yield "'input' must be a non-empty list of objects"
        return
    items = [{"type": "message", **item} for item in items]
    for number, item in enumerate(items):
        yield from (f"input[{number}]: {problem}" for problem in _item(item))
    yield from broken_url_rules(_urls(items))
    yield from _order(items)
    yield from _pairs(items)
    yield from _tools(body, items)
    yield memory.broken_rule(items)


def _fields(body: Mapping[str, Any], refused: tuple[str, ...]) -> Iterator[str]:
    reasoning = body.get("reasoning") or {}
    for name in refused:
        if name in body or (name.startswith("reasoning.") and name.removeprefix("reasoning.") in reasoning):
            yield f"Unsupported parameter: '{name}' is not supported with this model."
    for name in body:
        if name not in KNOWN:
            yield f"Unknown parameter: '{name}'."
    if body.get("store") not in (None, False):
        yield "'store' must be false here: this server keeps nothing"
    if not isinstance(body.get("instructions", "x"), str) or not body.get("instructions", "x").strip():
        yield "'instructions' must be a non-empty string"
    for name in body.get("include") or ():
        if name not in INCLUDABLE:
            yield f"Invalid value: {name!r}. Supported values are: {INCLUDABLE}."
    for name in reasoning:
        if name not in ("effort", "summary"):
            yield f"Unknown parameter: 'reasoning.{name}'."
    if reasoning.get("effort") not in (None, *EFFORTS):
        yield f"Invalid value: {reasoning['effort']!r}. Supported values of 'reasoning.effort' are: {EFFORTS}."


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    kind = item.get("type")
    if kind not in _FIELDS:
        yield f"unknown item type {kind!r}"
        return
    for name in item:
        if name not in _FIELDS[kind]:
            yield f"Unknown parameter: '{name}'."
    match kind:
        case "message":
            yield from _message(item)
        case "reasoning":
            if not isinstance(item.get("summary"), list):
                yield "Missing required parameter: 'summary'."
        case "function_call":
            yield from _call(item)
        case _:
            yield from _output(item)


def _message(item: Mapping[str, Any]) -> Iterator[str]:
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant", "system", "developer"):
        yield f"unsupported role {role!r}"
    if isinstance(content, str):
        if not content.strip():
            yield "text content must not be empty"
    elif isinstance(content, list) and content:
        yield from (problem for part in content for problem in _part(part, str(role)))
    else:
        yield f"content of a {role} message must not be {type(content).__name__}"


def _part(part: Any, role: str) -> Iterator[str]:
    match part, role:
        case {"type": "output_text", "text": str(text)}, "assistant":
            yield from _said(text)
        case {"type": "refusal", "refusal": str(text)}, "assistant":
            yield from _said(text)
        case {"type": "input_text", "text": str(text)}, "user" | "system" | "developer":
            yield from _said(text)
        case {"type": "input_image", "image_url": str(url)}, "user":
            yield from _image(url)
        case _:
            yield f"unsupported content part in a {role} message: {str(part)[:80]}"


def _said(text: str) -> Iterator[str]:
    if not text.strip():
        yield "text content must not be empty"


def _image(url: str) -> Iterator[str]:
    if not url.startswith(("data:image/", "https://", "http://")):
        yield "an image must be a data or http URL"


def _call(item: Mapping[str, Any]) -> Iterator[str]:
    if not item.get("call_id") or not isinstance(item["call_id"], str) or len(item["call_id"]) > 64:
        yield "'call_id' must be a string of 1 to 64 characters"
    if not NAME.fullmatch(str(item.get("name"))):
        yield f"tool name {str(item.get('name'))[:80]!r} does not match {NAME.pattern}"
    text = item.get("arguments")
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        yield f"arguments are not valid JSON: {str(text)[:80]}"
        return
    if not isinstance(value, dict):
        yield f"arguments must be an object: {str(text)[:80]}"


def _output(item: Mapping[str, Any]) -> Iterator[str]:
    output = item.get("output")
    if isinstance(output, str):
        if not output:
            yield "'output' must not be empty"
    elif isinstance(output, list) and output:
        yield from (problem for part in output for problem in _part(part, "user"))
    else:
        yield f"'output' must not be {type(output).__name__}"


def _urls(items: Sequence[Any]) -> Iterator[str]:
    for item in items:
        parts = item.get("content") if item.get("type") == "message" else item.get("output")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, Mapping) and part.get("type") == "input_image":
                yield str(part.get("image_url", ""))


def _speaker(item: Mapping[str, Any]) -> str:
    if item["type"] == "message":
        return str(item["role"])
    return "tool" if item["type"] == "function_call_output" else "assistant"


def _order(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    before = "system"
    for number, item in enumerate(items):
        role = _speaker(item)
        allowed = {
            "system": before == "system",
            "developer": before == "system",
            "user": before in ("system", "assistant") or (before == "tool" and any(_urls([item]))),
            "assistant": before in ("user", "tool", "assistant"),
            "tool": before in ("assistant", "tool"),
        }
        if not allowed[role]:
            yield f"input[{number}]: {role!r} cannot come after {before!r}"
        before = role
    if before == "system":
        yield "there must be a user message"
    if before == "assistant":
        yield "the input must not end with what the assistant said"


def _pairs(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    open_ids: list[str] = []
    seen: set[str] = set()
    before = ""
    for number, item in enumerate(items):
        kind, call_id = item["type"], item.get("call_id", "")
        if kind == "function_call_output":
            if not open_ids or call_id != open_ids[0]:
                yield f"input[{number}]: No tool call found for function call output with call_id {call_id}."
                return
            open_ids.pop(0)
        elif open_ids and (_speaker(item) != "assistant" or before == "function_call_output"):
            yield f"No tool output found for function call {open_ids[0]}."
            return
        if kind == "function_call":
            if call_id in seen:
                yield f"input[{number}]: the call_id {call_id} is used twice"
            open_ids.append(call_id)
            seen.add(call_id)
        before = kind
    if open_ids:
        yield f"No tool output found for function call {open_ids[0]}."


def _tools(body: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    tools = body.get("tools")
    if tools is not None:
        yield from _definitions(tools)
    if not tools and any(item["type"].startswith("function_call") for item in items):
        yield "the history has tool calls, but 'tools' is missing"
    choice = body.get("tool_choice")
    if choice is not None and not tools:
        yield "'tool_choice' is only allowed with 'tools'"
    if choice is not None and choice not in ("auto", "none", "required"):
        yield f"unknown tool_choice {choice!r}"


def _definitions(tools: Any) -> Iterator[str]:
    if not isinstance(tools, list) or not tools:
        yield "'tools' must be a non-empty list"
        return
    for tool in tools:
        match tool:
            case {"type": "function", "name": str(name), "parameters": {"type": "object"}} if NAME.fullmatch(name):
                if tool.get("strict") not in (False, None):
                    yield f"the schema of {name!r} is not fit for strict"
            case _:
                yield f"malformed tool definition {str(tool)[:80]}"
