"""The provider seam: a request goes in, deltas come out, the last of them is the whole reply."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from hermes_acp.events import ModelSwitched, Notice, ReasoningDelta, StatusChanged, TextDelta, ToolDrafted, ToolFinished
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Message

Finish = Literal["stop", "tool_calls", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call. `input` counts everything sent, `cached` the part of it read from a cache
    and `kept` the part written to one; `output` counts everything written, `reasoning` the part of it that was
    thought."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    kept: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.kept + other.kept,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete reply. Only a stream that reached its terminal event yields one. `cost` is what it cost in US
    dollars, None where prices are not known."""

    message: AssistantMessage
    finish: Finish
    usage: Usage | None = None
    model: str = ""
    cost: float | None = None


Pay = Callable[[Reply], None]
"""Counts what the reply to a question beside a conversation has cost."""


def free(reply: Reply) -> None:
    """Nobody counts it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    `notes` are ephemeral texts for this call only: appended to a copy of the last user or tool message and
    never stored. `tools` are function schemas (name, description, parameters). `answering`: the model that the
    conversation knows to answer in the place of its own ("" when that one does), as `ModelSwitched` named it. `pay`
    counts what is asked of other models on the way, such as words for pictures.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    notes: tuple[str, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    thought_level: str = ""
    answering: str = ""
    pay: Pay = free


Delta = TextDelta | ReasoningDelta | ToolDrafted | ToolFinished | StatusChanged | Notice | ModelSwitched | Reply
"""What a stream yields. `ToolFinished` closes a draft that a broken attempt leaves behind."""


class Provider(Protocol):
    """A model behind an API, or a provider made of providers.

    `stream` raises `ProviderError` (see `hermes_acp.errors`) and nothing else. Closing the generator
    closes the connection.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]: ...


@dataclass(slots=True)
class Layer:
    """What a provider around another one begins with: that one, whose name and model it has."""

    provider: Provider

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def model(self) -> str:
        return self.provider.model


@dataclass(slots=True)
class ReplyIds:
    """The ids of one attempt at a reply: one for the answer, one for the thought, one for each call."""

    text: str = field(default_factory=lambda: new_id("msg"))
    thought: str = field(default_factory=lambda: new_id("thought"))


def new_id(prefix: str) -> str:
    """An id that no other message, call or session has, such as "call_3f0c…"."""
    return f"{prefix}_{secrets.token_hex(12)}"
