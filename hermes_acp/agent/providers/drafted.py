"""A tool call while a model writes it."""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import ToolCall, parse_arguments

NAMELESS = "The call names no tool."


@dataclass(slots=True)
class Draft:
    """A call and the pieces of its arguments. `id` is ours, `provider_id` the provider's own."""

    provider_id: str = ""
    id: str = field(default_factory=lambda: new_id("call"))
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """The JSON text of the arguments, as far as it has come."""
        return mend("".join(self.pieces))

    @property
    def is_cut(self) -> bool:
        """Whether the arguments end in the middle."""
        return _is_unfinished(self.arguments)

    def add(self, arguments: Any) -> None:
        """Take arguments in the form they come in: a piece of text, or a whole object (an empty one says nothing)."""
        if isinstance(arguments, str):
            if arguments:
                self.pieces.append(arguments)
        elif arguments:
            self.pieces.append(json.dumps(arguments))

    def call(self) -> ToolCall:
        """The call as it is told to the conversation."""
        arguments, problem = parse_arguments(self.arguments)
        return ToolCall(self.id, self.name, arguments, self.provider_id, problem if self.name else NAMELESS)


def _is_unfinished(text: str) -> bool:
    """Whether the text is the beginning of a JSON object, and no more."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):  # A number of thousands of digits, or nested without end.
        return False
    return False
