"""What a program hands in: a prompt, and a history in the form of the OpenAI API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hermes_acp.agent.history import close_open_turn, repair
from hermes_acp.agent.providers.base import new_id
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import pictures
from hermes_acp.local.picture_formats import BrokenPicture
from hermes_acp.messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    from_dict,
    user,
)
from hermes_acp.nesting import is_deep
from hermes_acp.text import clean


@dataclass(frozen=True, slots=True)
class History:
    """Messages in valid order, and the system message that stood before them ("" when none did)."""

    messages: tuple[Message, ...]
    system: str = ""


def read_prompt(value: Any) -> UserMessage:
    """The user message of a prompt: a text, or a list of text and picture parts in the form of the OpenAI API.

    Raises:
        TypeError: it is neither.
        ValueError: there is nothing in it, or a part cannot be read.
    """
    if isinstance(value, str):
        message: Message = user(clean(value))
    elif isinstance(value, list):
        message = _message({"role": "user", "content": value}, "user_message")
    else:
        raise TypeError(f"user_message: must be str or a list of parts, not {type(value).__name__}")
    assert isinstance(message, UserMessage)
    if all(isinstance(part, Text) and not part.text.strip() for part in message.parts):
        raise ValueError("user_message: it is empty")
    return message


def read_system(value: Any) -> str:
    """The text of a system message; "" for None.

    Raises:
        TypeError: it is no text.
    """
    if value is not None and not isinstance(value, str):
        raise TypeError(f"system_message: must be str, not {type(value).__name__}")
    return clean(value or "")


def read_history(value: Any) -> History | None:
    """A history that a program gives, repaired, so that it can always be gone on with; None for None.

    Raises:
        TypeError: it is no sequence of dicts.
        ValueError: a message cannot be read; the text names it.
    """
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise TypeError(f"conversation_history: must be a list of dicts, not {type(value).__name__}")
    items = list(value)
    system = []
    while items and isinstance(items[0], Mapping) and items[0].get("role") in ("system", "developer"):
        system.append(_system_text(items.pop(0)))
    at = len(system)
    read = [_message(item, f"conversation_history[{at + n}]") for n, item in enumerate(items)]
    messages = repair(_with_unique_ids(read))
    close_open_turn(messages)
    return History(tuple(messages), "\n\n".join(system))


async def fit_prompt(prompt: UserMessage) -> UserMessage:
    """The prompt with its pictures made to fit; one that is none becomes a note."""
    return UserMessage(tuple([await _fit(part) for part in prompt.parts]))


async def fit_history(messages: Iterable[Message]) -> list[Message]:
    """The messages, each with its pictures made to fit."""
    return [await _fit_message(message) for message in messages]


async def _fit_message(message: Message) -> Message:
    match message:
        case UserMessage():
            return await fit_prompt(message)
        case ToolMessage(images=images) if images:
            fit = [await _fit(image) for image in images]
            notes = [part.text for part in fit if isinstance(part, Text)]
            text = "\n".join(filter(None, (message.text, *notes)))
            return replace(message, text=text, images=tuple(part for part in fit if isinstance(part, Image)))
        case _:
            return message


async def _fit(part: Part) -> Part:
    if isinstance(part, Text):
        return part
    try:
        return (await pictures.fit(await pictures.from_base64(part.data))).image
    except BrokenPicture as error:
        return Text(f"[A picture that cannot be shown: it {error}.]")


def _with_unique_ids(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with a new id for every call whose own is empty or was used before, and for its result."""
    seen: set[str] = set()
    asked: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = tuple(_with_id(call, seen) for call in message.tool_calls)
            asked = [(old.id, new.id) for old, new in zip(message.tool_calls, calls, strict=True)]
            yield replace(message, tool_calls=calls)
        elif isinstance(message, ToolMessage):
            pair = next((pair for pair in asked if pair[0] == message.call_id), None)
            if pair is not None:
                asked.remove(pair)
            yield replace(message, call_id=pair[1]) if pair else message
        else:
            yield message


def _with_id(call: ToolCall, seen: set[str]) -> ToolCall:
    if not call.id or call.id in seen:
        call = replace(call, id=new_id("call"))
    seen.add(call.id)
    return call


def _message(item: Any, place: str) -> Message:
    """The message of a dict; whatever is in it, the answer is a message or one line that says what is wrong."""
    if not isinstance(item, Mapping):
        raise TypeError(f"{place}: must be a dict, not {type(item).__name__}")
    try:
        strict = json.loads(clean(json.dumps(dict(item), ensure_ascii=False, allow_nan=False)))
        if is_deep(strict):
            raise RecursionError
        return from_dict(strict)
    except RecursionError:
        raise ValueError(f"{place}: it is nested too deeply") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{place}: {reason}") from None


def _system_text(item: Mapping[str, Any]) -> str:
    message = _message({"role": "user", "content": item.get("content")}, "conversation_history: the system message")
    assert isinstance(message, UserMessage)
    return message.text
