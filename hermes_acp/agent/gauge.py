"""How many tokens a conversation takes: counted in characters, calibrated by what the provider counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from operator import is_
from typing import Any

from hermes_acp.agent.providers.base import Request, Usage
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Image, Message, Text, ToolMessage, UserMessage

START = 3.6
LEAST, MOST = 2.0, 6.0
"""Characters a token: before anything was counted, and the bounds of what is believed."""

PICTURE_TOKENS = 1_500
"""What a picture takes, about, whatever its size."""

_FRAME = 12
"""Characters that a message takes beside what it says."""


@dataclass(frozen=True, slots=True)
class Size:
    """What is sent, in characters and pictures."""

    characters: int = 0
    pictures: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.characters + other.characters, self.pictures + other.pictures)


@dataclass(slots=True)
class Gauge:
    """The measure of one session's context.

    `limits` are windows in tokens, by model, that providers told when they refused a prompt as too long. `in_vain`
    counts the last compactions in a row that came to nothing.
    """

    characters_per_token: float = START
    limits: dict[str, int] = field(default_factory=dict)
    in_vain: int = 0
    _known: tuple[Sequence[Message], Size] = ((), Size())

    def size_of(self, messages: Sequence[Message]) -> Size:
        """The size of the conversation's messages; what was there the last time is not measured again."""
        known, size = self._known
        if len(known) > len(messages) or not all(map(is_, known, messages)):
            known, size = (), Size()
        self._known = list(messages), size + size_of_messages(messages[len(known) :])
        return self._known[1]

    def forget(self) -> None:
        """Hold no messages any more."""
        self._known = (), Size()

    def tokens(self, size: Size) -> int:
        """About how many tokens this takes."""
        return round(size.characters / self.characters_per_token) + size.pictures * PICTURE_TOKENS

    def learn(self, request: Request, usage: Usage) -> None:
        """Take from what the provider counted how long its tokens are here."""
        size = size_around(request) + self.size_of(request.messages)
        counted = usage.input - size.pictures * PICTURE_TOKENS
        if counted > 0 and size.characters > 0:
            self.characters_per_token = min(max(size.characters / counted, LEAST), MOST)

    def window(self, model: str, known: int) -> int:
        """The window to keep to: what is known of the model, or less where the provider has refused that."""
        told = self.limits.get(model, 0)
        return min(told, known) if told and known else told or known


def size_around(request: Request) -> Size:
    """The size of everything that a request carries beside its messages."""
    return Size(len(request.system) + sum(map(len, request.notes))) + size_of_tools(request.tools)


def size_of_tools(schemas: Sequence[Mapping[str, Any]]) -> Size:
    """The size of tool schemas."""
    return Size(sum(len(json.dumps(schema, ensure_ascii=False, default=str)) for schema in schemas))


def size_of_messages(messages: Iterable[Message]) -> Size:
    """The size of messages."""
    return sum(map(_size, messages), Size())


def _size(message: Message) -> Size:
    match message:
        case UserMessage(parts):
            texts = sum(len(part.text) for part in parts if isinstance(part, Text))
            return Size(texts + _FRAME, sum(isinstance(part, Image) for part in parts))
        case ToolMessage():
            return Size(len(message.text) + _FRAME, len(message.images))
        case AssistantMessage():
            calls = sum(len(call.name) + _length(call.arguments) + _FRAME for call in message.tool_calls)
            return Size(len(message.text) + len(message.reasoning) + calls + _FRAME)


def _length(value: Any) -> int:
    """About as many characters as the value has in JSON, without writing it."""
    match value:
        case str():
            return len(value) + 2
        case Mapping():
            return sum(len(str(key)) + _length(one) + 4 for key, one in value.items()) + 2
        case list() | tuple():
            return sum(_length(one) + 2 for one in value) + 2
        case _:
            return len(str(value))
