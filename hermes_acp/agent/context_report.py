"""What fills a session's context, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_acp.agent.conversation import Toolbox
from hermes_acp.agent.gauge import Size, size_of_messages, size_of_tools
from hermes_acp.agent.prompt.sections import sizes
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Message, ToolMessage, UserMessage

_ROLES: Sequence[tuple[str, type[Message]]] = (
    ("your messages", UserMessage),
    ("answers and calls", AssistantMessage),
    ("tool results", ToolMessage),
)


@dataclass(frozen=True, slots=True)
class Share:
    """One part of the context; of things that can be counted, how many there are."""

    name: str
    size: Size
    count: int = 0


def shares(system: str, tools: Toolbox, messages: Sequence[Message]) -> list[Share]:
    """The parts of a request with this system prompt, these tools and messages, in the order they are sent in."""
    prompt = [Share(f"Prompt: {name.lower()}", Size(characters)) for name, characters in sizes(system)]
    schemas = Share("Tools", size_of_tools([tool.schema() for tool in tools.values()]), len(tools))
    said = [_said(name, [message for message in messages if isinstance(message, kind)]) for name, kind in _ROLES]
    return [*prompt, schemas, *said]


def total(parts: Iterable[Share]) -> Size:
    """All parts together."""
    return sum((part.size for part in parts), Size())


def _said(name: str, messages: Sequence[Message]) -> Share:
    return Share(f"Conversation: {name}", size_of_messages(messages), len(messages))
