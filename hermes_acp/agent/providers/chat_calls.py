"""The tool calls of a streamed chat reply, put together from deltas of every known manner."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_acp.agent.providers.drafted import Draft
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.events import ToolDrafted
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import ToolCall


@dataclass(slots=True)
class _ChatDraft(Draft):
    """A call of a chat reply; `index` is what the server numbers it by."""

    index: Any = None

    def goes_on(self, identity: str, name: str, arguments: Any) -> bool:
        """Whether a delta that could be of this call is, rather than the start of another one."""
        if not name or not self.name:
            return True
        if not self.pieces:
            return name == self.name and identity in ("", self.provider_id)
        starts = not isinstance(arguments, str) or arguments.startswith("{") or not arguments
        return not (starts and self.pieces[-1].endswith("}") and _is_json(self.arguments))


class ChatCalls:
    """All calls of one reply.

    Deltas find their call by `index`; where that is missing, by `id`; where both are missing they belong
    to the last call. A delta that names a tool starts a new call when the one it would belong to is
    complete, since some servers number every call 0 or give all of them one id. Each call gets an id of
    our own.
    """

    def __init__(self) -> None:
        self._drafts: list[_ChatDraft] = []

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
        return bool(self._drafts) and self._drafts[-1].is_cut

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

    def _begin(self, index: Any, identity: str) -> _ChatDraft:
        draft = _ChatDraft(provider_id=identity, index=index)
        self._drafts.append(draft)
        return draft

    def _find(self, index: Any, identity: str) -> _ChatDraft | None:
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
