"""Messages as text for a model or a person to read."""

from __future__ import annotations

import json

from hermes_acp.messages import AssistantMessage, Image, Message, Text, ToolCall, ToolMessage, UserMessage
from hermes_acp.text import clean, head_and_tail

RESULT_CHARACTERS = 2_000
_ARGUMENT_CHARACTERS = 1_000


def render(message: Message) -> str:
    """What a message says, with who says it; results and arguments of calls only in part when they are long."""
    match message:
        case UserMessage(parts):
            return "User: " + "\n\n".join(part.text if isinstance(part, Text) else _picture(part) for part in parts)
        case AssistantMessage():
            return "Agent: " + "\n".join(filter(None, (message.text, *map(_call, message.tool_calls))))
        case ToolMessage():
            outcome = "failed" if message.is_error else "returned"
            return f"{message.name} {outcome}: {head_and_tail(message.text, RESULT_CHARACTERS)}"


def _call(call: ToolCall) -> str:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    return f"[calls {call.name} with {head_and_tail(clean(arguments), _ARGUMENT_CHARACTERS)}]"


def _picture(image: Image) -> str:
    return f"[a picture ({image.mime_type})]"
