"""A request as a Chat Completions body."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from typing import Any

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.chat_dialect import REASONING_FIELDS, Dialect
from hermes_acp.agent.providers.encoding import NO_OUTPUT, NO_WORDS, pictures_beside, replayed, tool_name
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import (
    AssistantMessage,
    Message,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    call_dict,
)
from hermes_acp.text import clean


def chat_body(request: Request, endpoint: Endpoint, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a request, but for the model's name and `stream`."""
    encoder = _Encoder(endpoint, dialect)
    body: dict[str, Any] = {"messages": encoder.messages(request)}
    if request.tools:
        body["tools"] = [{"type": "function", "function": dict(schema)} for schema in request.tools]
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    if request.thought_level:
        body["reasoning_effort"] = request.thought_level
    body["stream_options"] = {"include_usage": True}
    return {name: value for name, value in body.items() if name not in dialect.without}


@dataclass(frozen=True, slots=True)
class _Encoder:
    endpoint: Endpoint
    dialect: Dialect

    def messages(self, request: Request) -> list[dict[str, Any]]:
        encoded = list(self._all(request))
        if request.notes:
            _append_notes(encoded, [clean(note) for note in request.notes if note.strip()])
        return encoded

    def _all(self, request: Request) -> Iterator[dict[str, Any]]:
        if request.system.strip():
            yield {"role": "system", "content": clean(request.system)}
        for is_result, group in groupby(request.messages, lambda one: isinstance(one, ToolMessage)):
            messages = list(group)
            yield from (self._message(message) for message in messages)
            if is_result:
                yield from self._pictures(messages)

    def _message(self, message: Message) -> dict[str, Any]:
        match message:
            case UserMessage(parts):
                return {"role": "user", "content": self._user_content(parts)}
            case AssistantMessage():
                return self._assistant(message)
            case ToolMessage():
                return {"role": "tool", "tool_call_id": self._id(message.call_id), "content": self._result(message)}

    def _result(self, message: ToolMessage) -> str:
        text = clean(message.text)
        return text if text.strip() else NO_OUTPUT

    def _user_content(self, parts: tuple[Part, ...]) -> str | list[dict[str, Any]]:
        encoded = [self._part(part) for part in parts if not (isinstance(part, Text) and not part.text.strip())]
        if not encoded:
            return NO_WORDS
        if all(part["type"] == "text" for part in encoded):
            return "\n\n".join(part["text"] for part in encoded)
        return encoded

    def _part(self, part: Part) -> dict[str, Any]:
        if isinstance(part, Text):
            return {"type": "text", "text": clean(part.text)}
        return {"type": "image_url", "image_url": {"url": f"data:{part.mime_type};base64,{part.data}"}}

    def _pictures(self, results: list[Message]) -> Iterator[dict[str, Any]]:
        """The pictures of tool results, as a user message after them: results themselves hold text only."""
        parts = [part for result in results if isinstance(result, ToolMessage) for part in pictures_beside(result)]
        if parts:
            yield {"role": "user", "content": [self._part(part) for part in parts]}

    def _assistant(self, message: AssistantMessage) -> dict[str, Any]:
        text = clean(message.text)
        encoded: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if message.tool_calls:
            encoded["tool_calls"] = [self._call(call) for call in message.tool_calls]
        elif not text.strip():
            encoded["content"] = NO_WORDS
        encoded |= self._reasoning(message.opaque)
        if self.dialect.thoughtful and message.tool_calls:
            encoded.setdefault("reasoning_content", clean(message.reasoning))
        return encoded

    def _call(self, call: ToolCall) -> dict[str, Any]:
        encoded = call_dict(call)
        function = encoded["function"]
        function["name"] = tool_name(function["name"])
        function["arguments"] = clean(function["arguments"])
        return encoded | {"id": self._id(call.id)}

    def _id(self, call_id: str) -> str:
        call_id = clean(call_id)
        return sha256(call_id.encode()).hexdigest()[:9] if self.dialect.short_ids else call_id

    def _reasoning(self, opaque: Opaque | None) -> dict[str, Any]:
        data = replayed(opaque, self.endpoint)
        known = (name for name in REASONING_FIELDS if name not in self.dialect.without)
        return {name: data[name] for name in known if name in data}


def _append_notes(messages: list[dict[str, Any]], notes: list[str]) -> None:
    """Add the notes to the last message that a model did not write; the messages are this request's own."""
    last = next((one for one in reversed(messages) if one["role"] in ("user", "tool")), None)
    if last is None:
        return
    if isinstance(last["content"], str):
        last["content"] = "\n\n".join([last["content"], *notes])
    else:
        last["content"] += [{"type": "text", "text": note} for note in notes]
