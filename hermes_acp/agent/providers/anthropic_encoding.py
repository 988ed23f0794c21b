"""A request as a Messages body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from hermes_acp.agent.anthropic_models import longest_answer
from hermes_acp.agent.providers.anthropic_decoding import BLOCKS
from hermes_acp.agent.providers.anthropic_dialect import MessagesDialect, mark
from hermes_acp.agent.providers.anthropic_thinking import thinking
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.encoding import NO_OUTPUT, NO_WORDS, replayed, tool_name
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Image, Message, Text, ToolCall, ToolMessage, UserMessage
from hermes_acp.text import clean

Block = dict[str, Any]

MARKED = 3
"""So many messages at the end get a cache marker, beside the system prompt; Anthropic allows four in all."""

_MARKER = {"type": "ephemeral"}
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def messages_body(request: Request, endpoint: Endpoint, dialect: MessagesDialect) -> dict[str, Any]:
    """The JSON body of a request, but for the model's name and `stream`."""
    messages = _Encoder(endpoint, dialect).messages(request.messages)
    most = dialect.longest(endpoint.max_output or longest_answer(endpoint.model), len(messages))
    body: dict[str, Any] = {"max_tokens": most, "messages": messages}
    if request.system.strip():
        body["system"] = [_text(request.system)]
    body |= _tools(request)
    body |= thinking(request.thought_level, endpoint.model, dialect, messages, most)
    if "cache_control" not in dialect.without:
        _mark([*body.get("system", ()), *(message["content"][-1] for message in messages[-MARKED:])])
    _append_notes(messages, request.notes)
    return {name: value for name, value in body.items() if name not in dialect.without}


@dataclass(frozen=True, slots=True)
class _Encoder:
    endpoint: Endpoint
    dialect: MessagesDialect

    def messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The messages with their roles by turns: results and what a person says are both a user's."""
        encoded: list[dict[str, Any]] = []
        for message in messages:
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            if encoded and encoded[-1]["role"] == role:
                encoded[-1]["content"] += self._blocks(message)
            else:
                encoded.append({"role": role, "content": self._blocks(message)})
        return encoded

    def _blocks(self, message: Message) -> list[Block]:
        match message:
            case UserMessage(parts):
                blocks = [_part(part) for part in parts if not (isinstance(part, Text) and not part.text.strip())]
                return blocks or [_text(NO_WORDS)]
            case AssistantMessage():
                return self._assistant(message)
            case ToolMessage():
                return [self._result(message)]

    def _result(self, message: ToolMessage) -> Block:
        content: list[Block] = [_text(message.text)] if message.text.strip() else []
        content += [_image(image) for image in message.images]
        block: Block = {
            "type": "tool_result",
            "tool_use_id": _id(message.call_id),
            "content": content or [_text(NO_OUTPUT)],
        }
        # A failure may hold text only.
        if message.is_error and not message.images and "is_error" not in self.dialect.without:
            block["is_error"] = True
        return block

    def _assistant(self, message: AssistantMessage) -> list[Block]:
        blocks = list(self._as_they_came(message))
        if not blocks:
            blocks = [_text(message.text)] if message.text.strip() else []
            blocks += map(_call, message.tool_calls)
        if not blocks or "thinking" in blocks[-1]["type"]:
            blocks.append(_text(NO_WORDS))
        return blocks

    def _as_they_came(self, message: AssistantMessage) -> Iterator[Block]:
        """The blocks of a reply that held thoughts, if it is still what it was."""
        layout = replayed(message.opaque, self.endpoint).get(BLOCKS)
        if not isinstance(layout, list) or not _fits(layout, message):
            return
        calls = iter(message.tool_calls)
        for block in layout:
            match block["type"]:
                case "text":
                    text = message.text[block["start"] : block["end"]]
                    if text.strip():
                        yield _text(text)
                case "tool_use":
                    yield _call(next(calls))
                case _ if mark(block) not in self.dialect.refused:
                    yield dict(block)


def _fits(layout: list[Any], message: AssistantMessage) -> bool:
    """Whether the message has the text and the calls that its blocks had."""
    if not all(isinstance(block, Mapping) and isinstance(block.get("type"), str) for block in layout):
        return False
    kinds = [block["type"] for block in layout]
    places = [block.get(name) for block in layout if block["type"] == "text" for name in ("start", "end")]
    if not all(isinstance(place, int) for place in places):
        return False
    return kinds.count("tool_use") == len(message.tool_calls) and max(places, default=0) == len(message.text)


def _part(part: Text | Image) -> Block:
    return _text(part.text) if isinstance(part, Text) else _image(part)


def _text(text: str) -> Block:
    return {"type": "text", "text": clean(text)}


def _image(image: Image) -> Block:
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}}


def _call(call: ToolCall) -> Block:
    written = json.dumps(dict(call.arguments), ensure_ascii=False)
    arguments = dict(call.arguments) if clean(written) == written else json.loads(clean(written))
    return {"type": "tool_use", "id": _id(call.id), "name": tool_name(call.name), "input": arguments}


def _id(call_id: str) -> str:
    """An id of the letters that Anthropic takes; histories from elsewhere may have others."""
    return call_id if _ID.fullmatch(call_id) else sha256(clean(call_id).encode()).hexdigest()[:32]


def _tools(request: Request) -> dict[str, Any]:
    """The tools, and whether they may be called. A history with calls is refused without tools."""
    if request.tools:
        tools = [_tool(schema) for schema in request.tools]
        return {"tools": tools} | ({"tool_choice": {"type": "none"}} if request.tool_choice == "none" else {})
    replies = (message for message in request.messages if isinstance(message, AssistantMessage))
    names = dict.fromkeys(tool_name(call.name) for reply in replies for call in reply.tool_calls)
    if not names:
        return {}
    gone = [{"name": name, "description": "Not there now.", "input_schema": {"type": "object"}} for name in names]
    return {"tools": gone, "tool_choice": {"type": "none"}}


def _tool(schema: Mapping[str, Any]) -> Block:
    described = {"description": schema["description"]} if schema.get("description") else {}
    return {"name": schema["name"], **described, "input_schema": {"type": "object", **(schema.get("parameters") or {})}}


def _mark(blocks: Sequence[Block]) -> None:
    for block in blocks:
        block["cache_control"] = _MARKER


def _append_notes(messages: list[dict[str, Any]], notes: Sequence[str]) -> None:
    """Add the notes to the last message of a user, behind its cache marker; the messages are this request's own."""
    last = next((one for one in reversed(messages) if one["role"] == "user"), None)
    if last is not None:
        last["content"] += [_text(note) for note in notes if note.strip()]
