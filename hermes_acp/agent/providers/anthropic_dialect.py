"""What a Messages endpoint refuses or takes otherwise than Anthropic's newest models do, learned from its 400s."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass

OPTIONAL_FIELDS = ("cache_control", "thinking", "output_config", "display", "is_error", "tool_choice")
"""What a server may not know: fields of the request and of its blocks."""

FEWEST_TOKENS = 1024
"""An endpoint that allows a shorter answer than this is of no use, so a refusal is not taken to say that."""

ThinkingForm = Literal["", "adaptive", "budget"]

_BLOCKS = re.compile(
    r"thinking\W{1,3}block|redacted_thinking|\bsignature\b|\bthinking\b.{0,40}\bcontent\b", re.IGNORECASE
)
_WANTED = re.compile(r"expected\W+thinking", re.IGNORECASE)
_MOST = (
    re.compile(r"max_tokens:? \d+ > (?P<most>\d+)"),
    re.compile(r"max_tokens\W.{0,60}(?:at most|less than or equal to|<=|maximum(?: of| is)?|up to) (?P<most>\d+)"),
)
_ROOM = (
    re.compile(r"(?P<sent>\d+) \+ \d+ > (?P<window>\d+)"),
    re.compile(r"maximum context length is (?P<window>\d+) tokens and your request has (?P<sent>\d+) input"),
)
"""How a limit on the length of an answer is told, in general or beside what was sent: Anthropic, vLLM, routers."""

_MEANS = {"effort": "output_config", "budget_tokens": "thinking"}
"""Parts of optional fields, by which a refusal may name them."""


@dataclass(frozen=True, slots=True)
class MessagesDialect:
    """What is known of an endpoint.

    `without` are optional fields that it does not know; `thinking` is the form in which it takes how much to
    think, "" while the model's name tells; `refused` are the thoughts that it does not take back, each by its
    signature or data. `max_tokens` is the longest answer it allows, 0 when not told; `room` the longest one
    that has room beside so many messages and more.
    """

    without: frozenset[str] = frozenset()
    thinking: ThinkingForm = ""
    refused: frozenset[str] = frozenset()
    max_tokens: int = 0
    room: tuple[int, int] = (0, 0)

    def longest(self, wanted: int, messages: int) -> int:
        """How many tokens an answer beside so many messages may have, if it may."""
        room, since = self.room
        limits = (wanted, self.max_tokens, room if messages >= since else 0)
        return min(filter(None, limits))


def adapted(dialect: MessagesDialect, error: ProviderError, body: Mapping[str, Any]) -> MessagesDialect:
    """The dialect as this refusal of this body teaches it; the same one when it teaches nothing."""
    if error.status not in (400, 422):
        return dialect
    words = str(error)
    if shorter := _with_shorter_answers(dialect, words, body):
        return shorter
    if _WANTED.search(words) and "thinking" in body:
        return replace(dialect, without=dialect.without | {"thinking", "output_config"})
    if _BLOCKS.search(words) and (sent := frozenset(map(mark, _thoughts(body)))):
        return replace(dialect, refused=dialect.refused | sent)
    return _otherwise(dialect, words, body)


def mark(block: Mapping[str, Any]) -> str:
    """What a block of thoughts is known by."""
    return str(block.get("signature") or block.get("data") or block.get("thinking"))


def _with_shorter_answers(dialect: MessagesDialect, words: str, body: Mapping[str, Any]) -> MessagesDialect | None:
    """The dialect as a refusal of the answer's length teaches it; None when it tells nothing of that."""
    if told := _told(_MOST, words):
        most = told["most"]
        return replace(dialect, max_tokens=most) if FEWEST_TOKENS <= most < body["max_tokens"] else dialect
    if told := _told(_ROOM, words):
        room = told["window"] - told["sent"]
        fits = FEWEST_TOKENS <= room < body["max_tokens"]
        return replace(dialect, room=(room, len(body["messages"]))) if fits else dialect
    return None


def _told(patterns: tuple[re.Pattern[str], ...], words: str) -> dict[str, int]:
    found = next(filter(None, (pattern.search(words) for pattern in patterns)), None)
    return {name: int(number) for name, number in found.groupdict().items()} if found else {}


def _otherwise(dialect: MessagesDialect, words: str, body: Mapping[str, Any]) -> MessagesDialect:
    """The dialect with the other form of thinking, or without the fields that are named."""
    named = {_MEANS.get(name, name) for name in (*OPTIONAL_FIELDS, *_MEANS) if re.search(rf"\b{name}\b", words)}
    if "display" in named:
        named.discard("thinking")
    elif not dialect.thinking and (form := _other_form(words, body)):
        return replace(dialect, thinking=form)
    if "thinking" in named and (sent := frozenset(map(mark, _thoughts(body)))):
        return replace(dialect, refused=dialect.refused | sent)
    return replace(dialect, without=dialect.without | (named & set(_fields(body))))


def _other_form(words: str, body: Mapping[str, Any]) -> ThinkingForm:
    sent = body.get("thinking", {}).get("type")
    if sent == "enabled" and re.search(r"\badaptive\b", words):
        return "adaptive"
    if sent == "adaptive" and re.search(r"\badaptive\b|thinking\.type|budget_tokens", words):
        return "budget"
    return ""


def _thoughts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in body["messages"]:
        yield from (block for block in message["content"] if "thinking" in block["type"])


def _fields(value: Any) -> Iterator[str]:
    """The names of all fields of a request, but for those in what calls are given and tools want."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            if name not in ("input", "input_schema"):
                yield from _fields(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item)
