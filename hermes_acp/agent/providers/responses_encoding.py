"""A request as a Responses body."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.encoding import NO_OUTPUT, NO_WORDS, pictures_beside, tool_name
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.responses_dialect import EFFORT, SUMMARY, ResponsesDialect, reasoning_id
from hermes_acp.agent.providers.responses_layout import Entry, Part, laid_out, layout_of
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    call_dict,
)
from hermes_acp.messages import Part as MessagePart
from hermes_acp.text import clean

ENCRYPTED = "reasoning.encrypted_content"


def responses_body(request: Request, endpoint: Endpoint, dialect: ResponsesDialect) -> dict[str, Any]:
    """The JSON body of a request, but for the model's name and `stream`.

    Nothing is stored at the server, so that what it thought comes encrypted and is given back with the history.
    """
    body: dict[str, Any] = {"store": False, "include": [ENCRYPTED]}
    if request.system.strip():
        body["instructions"] = clean(request.system)
    body["input"] = _Encoder(endpoint, dialect).items(request)
    if request.tools:
        body["tools"] = [_tool(schema, dialect) for schema in request.tools]
        body["tool_choice"] = request.tool_choice
        body["parallel_tool_calls"] = True
    wanted = {EFFORT: request.thought_level, SUMMARY: "auto"}
    reasoning = {name: value for name, value in wanted.items() if value and name not in dialect.without}
    if reasoning:
        body["reasoning"] = {name.removeprefix("reasoning."): value for name, value in reasoning.items()}
    return {name: value for name, value in body.items() if name not in dialect.without}


def _tool(schema: Any, dialect: ResponsesDialect) -> dict[str, Any]:
    strict = {} if "strict" in dialect.without else {"strict": False}
    return {"type": "function", **schema, **strict}


@dataclass(frozen=True, slots=True)
class _Encoder:
    endpoint: Endpoint
    dialect: ResponsesDialect

    def items(self, request: Request) -> list[dict[str, Any]]:
        encoded = list(self._all(request))
        notes = [clean(note) for note in request.notes if note.strip()]
        if notes:
            _append_notes(encoded, notes)
        return encoded

    def _all(self, request: Request) -> Iterator[dict[str, Any]]:
        for is_result, group in groupby(request.messages, lambda one: isinstance(one, ToolMessage)):
            messages = list(group)
            for message in messages:
                yield from self._message(message)
            if is_result and self.dialect.plain_results:
                yield from _pictures(messages)

    def _message(self, message: Message) -> Iterator[dict[str, Any]]:
        match message:
            case UserMessage(parts):
                yield {"type": "message", "role": "user", "content": _user_content(parts)}
            case AssistantMessage():
                yield from self._assistant(message)
            case ToolMessage():
                output = self._output(message)
                yield {"type": "function_call_output", "call_id": clean(message.call_id), "output": output}

    def _output(self, result: ToolMessage) -> str | list[dict[str, Any]]:
        text = clean(result.text)
        if not result.images or self.dialect.plain_results:
            return text if text.strip() else NO_OUTPUT
        parts: list[MessagePart] = [Text(text), *result.images]
        return [_part(part) for part in parts if not _is_blank(part)]

    def _assistant(self, message: AssistantMessage) -> Iterator[dict[str, Any]]:
        entries = layout_of(message, self.endpoint)
        items = list(_replayed(message, entries) if self._accepted(entries) else _retold(message))
        yield from items or [_said(NO_WORDS)]

    def _accepted(self, entries: Any) -> bool:
        """Whether a reply can be given back as it came, its reasoning included."""
        lost = self.dialect.lost
        return bool(entries) and not self.dialect.forgetful and not any(reasoning_id(one) in lost for one in entries)


def _replayed(message: AssistantMessage, entries: Any) -> Iterator[dict[str, Any]]:
    """The items of a reply as they came, under the server's own ids."""
    for entry, part in laid_out(message, entries):
        yield _item(entry, part)


def _item(entry: Entry, part: Part) -> dict[str, Any]:
    known = {name: entry[name] for name in ("id", "phase") if name in entry}
    if isinstance(part, ToolCall):
        return _call(part) | known
    if part is None:
        return dict(entry)
    content = [{"type": "output_text", "text": clean(part), "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content} | known


def _retold(message: AssistantMessage) -> Iterator[dict[str, Any]]:
    """What was said and called, without reasoning and without ids of a server's."""
    text = clean(message.text)
    if text.strip():
        yield _said(text)
    yield from map(_call, message.tool_calls)


def _said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


def _call(call: ToolCall) -> dict[str, Any]:
    function = call_dict(call)["function"]
    arguments = clean(function["arguments"])
    name = tool_name(function["name"])
    return {"type": "function_call", "call_id": clean(call.id), "name": name, "arguments": arguments}


def _user_content(parts: tuple[MessagePart, ...]) -> str | list[dict[str, Any]]:
    encoded = [_part(part) for part in parts if not _is_blank(part)]
    if not encoded:
        return NO_WORDS
    if all(part["type"] == "input_text" for part in encoded):
        return "\n\n".join(part["text"] for part in encoded)
    return encoded


def _part(part: MessagePart) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": clean(part.text)}
    return {"type": "input_image", "image_url": f"data:{part.mime_type};base64,{part.data}", "detail": "auto"}


def _is_blank(part: MessagePart) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _pictures(results: list[Message]) -> Iterator[dict[str, Any]]:
    """The pictures of results as a user message after them, for servers whose results hold text only."""
    parts = [part for result in results if isinstance(result, ToolMessage) for part in pictures_beside(result)]
    if parts:
        yield {"type": "message", "role": "user", "content": [_part(part) for part in parts]}


def _append_notes(items: list[dict[str, Any]], notes: list[str]) -> None:
    """Add the notes to the last item that a model did not write; the items are this request's own."""
    last = next((one for one in reversed(items) if one["type"] == "function_call_output" or _is_users(one)), None)
    if last is None:
        return
    name = "output" if last["type"] == "function_call_output" else "content"
    if isinstance(last[name], str):
        last[name] = "\n\n".join([last[name], *notes])
    else:
        last[name] += [{"type": "input_text", "text": note} for note in notes]


def _is_users(item: dict[str, Any]) -> bool:
    return item.get("role") == "user"
