"""The tool calls of a streamed chat reply, put together from deltas of every known manner."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.events import ToolDrafted
from hermes_acp.messages import ToolCall, parse_arguments

NAMELESS = "The call names no tool."


@dataclass(slots=True)
class _Draft:
    """A call while it is written."""

    index: Any
    provider_id: str
    id: str = field(default_factory=lambda: new_id("call"))
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return mend("".join(self.pieces))

    def add(self, arguments: Any) -> None:
        """Take arguments in the form they come in: a piece of text, or a whole object (an empty one says nothing)."""
        if isinstance(arguments, str):
            if arguments:
                self.pieces.append(arguments)
        elif arguments:
            self.pieces.append(json.dumps(arguments))

    def goes_on(self, identity: str, name: str, arguments: Any) -> bool:
        """Whether a delta that could be of this call is, rather than the start of another one."""
        if not name or not self.name:
            return True
        if not self.pieces:
            return name == self.name and identity in ("", self.provider_id)
        starts = not isinstance(arguments, str) or arguments.startswith("{") or not arguments
        return not (starts and self.pieces[-1].endswith("}") and _is_json(self.arguments))

    def call(self) -> ToolCall:
        arguments, problem = parse_arguments(self.arguments)
        return ToolCall(self.id, self.name, arguments, self.provider_id, problem if self.name else NAMELESS)


class ChatCalls:
    """All calls of one reply.

    Deltas find their call by `index`; where that is missing, by `id`; where both are missing they belong
    to the last call. A delta that names a tool starts a new call when the one it would belong to is
    complete, since some servers number every call 0 or give all of them one id. Each call gets an id of
    our own.
    """

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []

    def add(self, deltas: Any) -> Iterator[ToolDrafted]:
        """Take the `tool_calls` of one delta; tells each call whose name became known."""
        for delta in deltas if isinstance(deltas, list) else ():
            if isinstance(delta, Mapping) and delta:
                yield from self._add(delta)

    def finished(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they began."""
        return tuple(draft.call() for draft in self._drafts)

    @property
    def cut(self) -> bool:
        """Whether the last call ends in the middle of its arguments."""
        return bool(self._drafts) and _is_unfinished(self._drafts[-1].arguments)

    def _add(self, delta: Mapping[str, Any]) -> Iterator[ToolDrafted]:
        function = delta.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, arguments = _text(function.get("name")), function.get("arguments")
        identity = mend(_text(delta.get("id")))
        if not (name or identity or arguments):
            return
        draft = self._find(delta.get("index"), identity)
        if draft is None or not draft.goes_on(identity, name, arguments):
            draft = self._begin(delta.get("index"), identity)
        draft.provider_id = draft.provider_id or identity
        if name and not draft.name:
            draft.name = mend(name)
            yield ToolDrafted(draft.id, draft.name)
        draft.add(arguments)

    def _begin(self, index: Any, identity: str) -> _Draft:
        draft = _Draft(index, identity)
        self._drafts.append(draft)
        return draft

    def _find(self, index: Any, identity: str) -> _Draft | None:
        newest = reversed(self._drafts)
        if index is not None:
            return next((draft for draft in newest if draft.index == index), None)
        if identity:
            return next((draft for draft in newest if draft.provider_id == identity), None)
        return next(newest, None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_unfinished(text: str) -> bool:
    """Whether the text is the beginning of a JSON object, and no more."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    except RecursionError:
        return False
    return False
