"""Messages and events as JSON text, lossless for everything that JSON can say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any

from hermes_acp.cards import Diff, Location, ToolResult
from hermes_acp.events import (
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    PlanEntry,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolPrepared,
    UserPrompted,
)
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Image, Message, UserMessage, from_dict, to_dict
from hermes_acp.nesting import DEEPEST
from hermes_acp.text import clean

_MAX_INT_BITS = 8192


def recorded(event: Event) -> bool:
    """Whether the event belongs in the transcript: what a replay shows, not what passed by."""
    return type(event) in _KINDS


def encode_event(event: Event) -> tuple[str, str]:
    """The kind and the JSON text of an event that is recorded."""
    return _KINDS[type(event)].name, dump(_plain(event))


def decode_event(kind: str, body: str) -> Event | None:
    """The event, or None for one that this version does not understand."""
    decode = _DECODERS.get(kind)
    if decode is None:
        return None
    try:
        return decode(json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def encode_message(message: Message) -> str:
    """The JSON text of a message."""
    try:
        return dump(to_dict(message))
    except (ValueError, TypeError, RecursionError):
        return dump(to_dict(_with_sane_arguments(message)))


def decode_message(body: str) -> Message | None:
    """The message, or None for one that this version does not understand."""
    try:
        return from_dict(json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def merged(events: Iterable[Event]) -> Iterator[Event]:
    """The events with neighbouring pieces of one message joined: the same words in fewer rows."""
    for stream, group in groupby(events, _stream):
        if stream is None:
            yield from group
        else:
            kind, message_id = stream
            yield kind("".join(event.text for event in group if isinstance(event, kind)), message_id)


def _stream(event: Event) -> tuple[type[TextDelta | ReasoningDelta], str] | None:
    return (type(event), event.message_id) if isinstance(event, TextDelta | ReasoningDelta) else None


def dump(value: Any) -> str:
    """Strict JSON text of a value, whatever is in it: what JSON cannot say is made null or text."""
    try:
        return clean(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return clean(json.dumps(_sane(value, DEEPEST), ensure_ascii=False, allow_nan=False))


def _with_sane_arguments(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    calls = (replace(call, arguments=_sane(call.arguments, DEEPEST)) for call in message.tool_calls)
    return replace(message, tool_calls=tuple(calls))


def _sane(value: Any, depth: int) -> Any:
    match value:
        case None | bool() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if value.bit_length() <= _MAX_INT_BITS else None
        case _ if depth == 0:
            return None
        case Mapping():
            return {str(key): _sane(item, depth - 1) for key, item in value.items()}
        case list() | tuple():
            return [_sane(item, depth - 1) for item in value]
        case _:
            return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, UserMessage):
        return to_dict(value)
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _user_prompted(data: dict[str, Any]) -> Event:
    message = from_dict(data["message"])
    if not isinstance(message, UserMessage):
        raise ValueError("a prompt must be a user message")
    return UserPrompted(message, data["message_id"])


def _tool_prepared(data: dict[str, Any]) -> Event:
    known = _known(ToolPrepared, data)
    return ToolPrepared(**known | {"locations": _locations(data), "diffs": _diffs(data)})


def _tool_finished(data: dict[str, Any]) -> Event:
    return ToolFinished(**_known(ToolFinished, data) | {"result": _result(data["result"])})


def _result(data: dict[str, Any]) -> ToolResult:
    images = tuple(Image(**_known(Image, item)) for item in data.get("images", ()))
    return ToolResult(
        **_known(ToolResult, data) | {"images": images, "diffs": _diffs(data), "locations": _locations(data)}
    )


def _diffs(data: dict[str, Any]) -> tuple[Diff, ...]:
    return tuple(Diff(**_known(Diff, item)) for item in data.get("diffs", ()))


def _locations(data: dict[str, Any]) -> tuple[Location, ...]:
    return tuple(Location(**_known(Location, item)) for item in data.get("locations", ()))


def _plan(data: dict[str, Any]) -> Event:
    return PlanChanged(tuple(PlanEntry(**_known(PlanEntry, item)) for item in data["entries"]))


def _flat(kind: type[Any]) -> Callable[[dict[str, Any]], Event]:
    def decode(data: dict[str, Any]) -> Event:
        event: Event = kind(**_known(kind, data))
        return event

    return decode


def _delta(kind: type[TextDelta | ReasoningDelta]) -> Callable[[dict[str, Any]], Event]:
    def decode(data: dict[str, Any]) -> Event:
        if not (isinstance(data["text"], str) and isinstance(data["message_id"], str)):
            raise ValueError("a piece of text must be text")
        return kind(data["text"], data["message_id"])

    return decode


def _known(kind: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    """The fields that this version knows; a later one may have written more."""
    names = {item.name for item in fields(kind)}
    return {name: value for name, value in data.items() if name in names}


@dataclass(frozen=True, slots=True)
class _Kind:
    """An event that is recorded: its name in the store, and how it is read."""

    name: str
    decode: Callable[[dict[str, Any]], Event]


_KINDS: Mapping[type[Any], _Kind] = {
    UserPrompted: _Kind("user_prompted", _user_prompted),
    TextDelta: _Kind("text", _delta(TextDelta)),
    ReasoningDelta: _Kind("reasoning", _delta(ReasoningDelta)),
    ToolPrepared: _Kind("tool_prepared", _tool_prepared),
    ToolFinished: _Kind("tool_finished", _tool_finished),
    PlanChanged: _Kind("plan", _plan),
    Notice: _Kind("notice", _flat(Notice)),
    ModelSwitched: _Kind("model_switched", _flat(ModelSwitched)),
    ContextCompacted: _Kind("context_compacted", _flat(ContextCompacted)),
}
_DECODERS = {kind.name: kind.decode for kind in _KINDS.values()}
