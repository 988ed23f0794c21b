"""Which pictures of a conversation a request carries, and what is said in place of the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hermes_acp.errors import ProviderError
from hermes_acp.events import Notice
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Image, Message, Part, Text, ToolMessage, UserMessage

MAX_PICTURES = 20
"""A request carries so many at most, the newest: servers hold more than that to stricter limits."""

_STATUSES = frozenset({400, 413, 415, 422})
_NAMED = r"\b(image|picture|photo|media|pixel|dimension|base64|vision|multi-?modal)"
_SOME = r"format|image/\w|media.?type|mime|image.type|dimension|pixel|\bsize|too\ (large|big|many|small)"
_COUNT = r"\b(?:at\ most|up\ to|max(?:imum)?(?:\ of)?|limit\ of)\s+(\d+)\s+image"
_BLIND = r"""
      (\bnot|n't|cannot|unable\ to) \s+ (support|accept|allow|handle|see|take|have)\w* .{0,40}
      (image|vision|visual|multi-?modal)
    | (image|vision|multi-?modal)\w* .{0,60} (\bnot\ (supported|allowed|available|enabled)|unsupported|only\ supported)
    | \bno\b .{0,40} \bsupport .{0,20} (image|vision)
    | \bnot\ (a\ )?(multi-?modal|vision)
    | \btext[- ]only | only\ (supports?|accepts?)\ text
    | unknown\ variant .{0,5} image_url
    | missing\ data\ required\ for\ image
    | content .{0,20} must\ be\ a\ string | field\ .{0,30}content\ of\ type\ string
"""
"""OpenAI, OpenRouter, DeepSeek, Groq, Ollama, LM Studio, llama.cpp, vLLM."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What an endpoint can see: the newest `most` pictures but for the `refused`, known by their hashes.

    `reason` is what the server said when it last refused some.
    """

    most: int = MAX_PICTURES
    refused: frozenset[int] = frozenset()
    reason: str = ""

    @property
    def blind(self) -> bool:
        """Whether it can see none at all."""
        return self.most == 0


def in_sight(messages: Sequence[Message], sight: Sight) -> Sequence[Message]:
    """The messages with a note in place of each picture that is not to be sent."""
    if not any(map(pictures_of, messages)):
        return messages
    newest = {id(picture) for picture in _newest(messages, sight)}
    return [_noted(message, sight, newest) for message in messages]


def learned(sight: Sight, error: ProviderError, messages: Sequence[Message]) -> Sight:
    """The sight as this refusal of a request teaches it; the same one when it teaches nothing.

    Args:
        sight: what the request was made by.
        error: the refusal.
        messages: the conversation of the request, its pictures all in it.
    """
    sent = _newest(messages, sight)
    words = str(error)
    if not sent:
        return sight
    if (count := _found(_COUNT, words)) and int(count[1]) < len(sent):
        return replace(sight, most=int(count[1]), reason=words)
    if _found(_BLIND, words) and not _found(_SOME, words) and error.status in {*_STATUSES, 404, 500}:
        return replace(sight, most=0, reason=words)
    if error.status == 413 or (error.status in _STATUSES and _found(_NAMED, words)):
        refused = frozenset(map(hash, _older(messages, sent) or sent))
        return replace(sight, refused=sight.refused | refused, reason=words)
    return sight


def told(model: str, messages: Sequence[Message], before: Sight, after: Sight) -> Iterator[Notice]:
    """What the person should know of the pictures of a request: those just refused, and new ones not seen."""
    if after.blind:
        if any(map(pictures_of, _unanswered(messages))):
            yield Notice(
                "warning", f"{model} cannot see pictures", f"It answers the text alone. {after.reason}".strip()
            )
        return
    lost = after.refused - before.refused
    if any(hash(picture) in lost for message in messages for picture in pictures_of(message)):
        yield Notice("warning", "Pictures were left out, because the model's server refused them", after.reason)


def _found(pattern: str, words: str) -> re.Match[str] | None:
    return re.search(pattern, words, re.IGNORECASE | re.DOTALL | re.VERBOSE)


def pictures_of(message: Message) -> list[Image]:
    """The pictures in a message, in order."""
    match message:
        case UserMessage(parts):
            return [part for part in parts if isinstance(part, Image)]
        case ToolMessage():
            return list(message.images)
        case _:
            return []


def _newest(messages: Sequence[Message], sight: Sight) -> list[Image]:
    """The pictures to be sent, in order."""
    every = (picture for message in messages for picture in pictures_of(message))
    welcome = [picture for picture in every if hash(picture) not in sight.refused]
    return welcome[max(len(welcome) - sight.most, 0) :]


def _older(messages: Sequence[Message], sent: Iterable[Image]) -> list[Image]:
    """Those that do not stand in the last message that has some of them."""
    last = next((pictures_of(message) for message in reversed(messages) if pictures_of(message)), [])
    return [picture for picture in sent if picture not in last]


def _unanswered(messages: Sequence[Message]) -> Iterator[Message]:
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return
        yield message


def _noted(message: Message, sight: Sight, newest: set[int]) -> Message:
    match message:
        case UserMessage(parts):
            return UserMessage(tuple(_part(part, sight, newest) for part in parts))
        case ToolMessage(images=images) if images:
            looked = [_part(image, sight, newest) for image in images]
            notes = (part.text for part in looked if isinstance(part, Text))
            kept = tuple(part for part in looked if isinstance(part, Image))
            return replace(message, text="\n\n".join(filter(None, (message.text, *notes))), images=kept)
        case _:
            return message


def _part(part: Part, sight: Sight, newest: set[int]) -> Part:
    if isinstance(part, Text) or id(part) in newest:
        return part
    if sight.blind:
        return Text(f"[A picture ({part.mime_type}) that this model cannot see.]")
    if hash(part) in sight.refused:
        return Text(f"[A picture ({part.mime_type}) that the model's server refused.]")
    return Text(f"[An earlier picture ({part.mime_type}): only the newest are sent.]")
