"""Pictures in words, for a model that cannot see them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from hermes_acp.agent.providers.base import Pay, free
from hermes_acp.agent.providers.sight import MAX_PICTURES, pictures_of
from hermes_acp.messages import Image, Message, Part, Text, ToolMessage, UserMessage

Describe = Callable[[Image, Pay], Awaitable[str]]
"""Says what a picture shows, "" when nobody can tell. Never raises a `ProviderError`."""

_AT_ONCE = 4


async def described(messages: Sequence[Message], describe: Describe, pay: Pay = free) -> Sequence[Message]:
    """The messages with words in place of the newest pictures; one that nobody can describe stays a picture."""
    pictures = list(dict.fromkeys(picture for message in messages for picture in pictures_of(message)))[-MAX_PICTURES:]
    if not pictures:
        return messages
    turn = asyncio.Semaphore(_AT_ONCE)

    async def words_of(picture: Image) -> str:
        async with turn:
            return await describe(picture, pay)

    words = await asyncio.gather(*map(words_of, pictures))
    found = {picture: text for picture, text in zip(pictures, words, strict=True) if text}
    return [_in_words(message, found) for message in messages]


def _in_words(message: Message, found: Mapping[Image, str]) -> Message:
    match message:
        case UserMessage(parts):
            return UserMessage(tuple(_part(part, found) for part in parts))
        case ToolMessage(images=images) if images:
            looked = [_part(image, found) for image in images]
            notes = (part.text for part in looked if isinstance(part, Text))
            kept = tuple(part for part in looked if isinstance(part, Image))
            return replace(message, text="\n\n".join(filter(None, (message.text, *notes))), images=kept)
        case _:
            return message


def _part(part: Part, found: Mapping[Image, str]) -> Part:
    if isinstance(part, Text) or part not in found:
        return part
    return Text(f"[A picture ({part.mime_type}) that this model cannot see; another model says of it:]\n{found[part]}")
