"""The one message form: what every provider, store and trajectory converts to and from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.nesting import DEEPEST, is_deep
from hermes_acp.text import clean

_TOO_DEEP = f"The arguments are nested {DEEPEST} levels deep or deeper."


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of readable content."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: base64 `data` of the media type `mime_type` (such as "image/png")."""

    data: str
    mime_type: str


Part = Text | Image


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a reply.

    `id` is ours and unique in the session; `provider_id` is what the provider called it (may be empty or
    reused). `problem` says why the arguments could not be used; such a call is answered with an error and
    never run, and its `arguments` are then an empty object, so that a stored history is always valid.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    provider_id: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A provider's own reasoning material, replayed unchanged to the same provider and model only."""

    provider: str
    model: str
    data: Any


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said: parts in the order given."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's reply; `synthetic` marks the fixed message that closes a turn without an answer."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: Opaque | None = None
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


Message = UserMessage | AssistantMessage | ToolMessage


def user(text: str) -> UserMessage:
    """A user message of one text part."""
    return UserMessage((Text(text),))


def to_dict(message: Message) -> dict[str, Any]:
    """The OpenAI-style dict of a message, lossless: `from_dict` gives an equal message back."""
    match message:
        case UserMessage(parts):
            return {"role": "user", "content": _content(parts)}
        case AssistantMessage():
            return _assistant_dict(message)
        case ToolMessage():
            return _tool_dict(message)


def from_dict(data: Mapping[str, Any]) -> Message:
    """The message of an OpenAI-style dict.

    Raises:
        ValueError: the role is none of user, assistant and tool, or a field has a wrong type.
    """
    match data.get("role"):
        case "user":
            return UserMessage(_parts(data.get("content")))
        case "assistant":
            return _assistant(data)
        case "tool":
            parts = _parts(data.get("content"))
            return ToolMessage(
                call_id=str(data.get("tool_call_id") or ""),
                name=str(data.get("name") or ""),
                text="\n".join(part.text for part in parts if isinstance(part, Text)),
                is_error=bool(data.get("is_error")),
                images=tuple(part for part in parts if isinstance(part, Image)),
            )
        case role:
            raise ValueError(f"a message has the role {role!r}; it must be user, assistant or tool")


def call_dict(call: ToolCall) -> dict[str, Any]:
    """The OpenAI-style dict of a call, with our id."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, allow_nan=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def parse_arguments(raw: Any) -> tuple[dict[str, Any], str]:
    """The arguments of a call as a model wrote them, and what is wrong with them ("" when nothing is).

    A model may send an object, a JSON text of one, or nothing at all (which means `{}`).
    """
    if raw is None or raw == "":
        return {}, ""
    if isinstance(raw, Mapping):
        return _strict(raw)
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, TypeError, RecursionError) as error:
        return {}, f"The arguments are not valid JSON ({error}): {str(raw)[:200]}"
    if not isinstance(value, dict):
        return {}, f"The arguments must be a JSON object, not {type(value).__name__}: {str(raw)[:200]}"
    return _strict(value)


def _strict(value: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    try:
        strict = json.loads(clean(json.dumps(dict(value), ensure_ascii=False, allow_nan=False)))
    except (ValueError, TypeError, RecursionError) as error:
        return {}, f"The arguments cannot be written as JSON: {error}"
    return ({}, _TOO_DEEP) if is_deep(strict) else (strict, "")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _content(parts: tuple[Part, ...]) -> str | list[dict[str, Any]]:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_part_dict(part) for part in parts]


def _part_dict(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(data, mime_type):
            return {"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{data}"}}


def _parts(content: Any) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise ValueError(f"message content must be text or a list, not {type(content).__name__}")
    return tuple(_part(item) for item in content)


def _part(item: Any) -> Part:
    if isinstance(item, str):
        return Text(item)
    if not isinstance(item, Mapping):
        raise ValueError(f"a content part must be an object, not {type(item).__name__}")
    if item.get("type") == "image_url":
        return _image(item.get("image_url"))
    return Text(str(item.get("text") or ""))


def _image(value: Any) -> Part:
    url = str(value.get("url") if isinstance(value, Mapping) else value or "")
    head, _, data = url.partition(";base64,")
    return Image(data, head.removeprefix("data:")) if data else Text(f"[image: {url[:200]}]")


def _assistant_dict(message: AssistantMessage) -> dict[str, Any]:
    data: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.reasoning:
        data["reasoning"] = message.reasoning
    if message.tool_calls:
        data["tool_calls"] = [_stored_call(call) for call in message.tool_calls]
    if message.opaque:
        opaque = message.opaque
        data["opaque"] = {"provider": opaque.provider, "model": opaque.model, "data": opaque.data}
    if message.synthetic:
        data["synthetic"] = True
    return data


def _stored_call(call: ToolCall) -> dict[str, Any]:
    data = call_dict(call)
    if call.provider_id:
        data["provider_id"] = call.provider_id
    if call.problem:
        data["problem"] = call.problem
    return data


def _tool_dict(message: ToolMessage) -> dict[str, Any]:
    content = _content((Text(message.text), *message.images))
    data: dict[str, Any] = {"role": "tool", "tool_call_id": message.call_id, "name": message.name, "content": content}
    if message.is_error:
        data["is_error"] = True
    return data


def _assistant(data: Mapping[str, Any]) -> AssistantMessage:
    opaque = data.get("opaque")
    parts = _parts(data.get("content"))
    return AssistantMessage(
        text="".join(part.text for part in parts if isinstance(part, Text)),
        reasoning=str(data.get("reasoning") or ""),
        tool_calls=tuple(_call(item) for item in data.get("tool_calls") or ()),
        opaque=Opaque(opaque["provider"], opaque["model"], opaque["data"]) if opaque else None,
        synthetic=bool(data.get("synthetic")),
    )


def _call(item: Mapping[str, Any]) -> ToolCall:
    function = item.get("function") or {}
    arguments, problem = parse_arguments(function.get("arguments"))
    return ToolCall(
        id=str(item.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments,
        provider_id=str(item.get("provider_id") or ""),
        problem=str(item.get("problem") or problem),
    )
