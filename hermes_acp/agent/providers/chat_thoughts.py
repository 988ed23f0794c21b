"""The thoughts in a streamed chat reply, as text for the person and as material for the next request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_acp.agent.providers.pieces import Pieces, mend


class ChatThoughts:
    """All thoughts of one reply: `reasoning_content`, `reasoning` or `reasoning_details`.

    Servers send one of these, or the same thought in several of them: it is shown once, and kept as it came.
    """

    def __init__(self) -> None:
        self._text = Pieces()
        self._field = ""
        self._details: list[dict[str, Any]] = []

    def add(self, delta: Mapping[str, Any]) -> str:
        """What of the delta's thought can be shown now; it may be empty."""
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict):
                self._join(detail)
        for name in ("reasoning_content", "reasoning"):
            text = delta.get(name)
            if text and isinstance(text, str):
                self._field = self._field or name
                return self._text.add(text)
        return self._text.add(text_of(details))

    def close(self) -> str:
        """What is left to show when no more will come."""
        return self._text.close()

    @property
    def text(self) -> str:
        return self._text.text

    @property
    def data(self) -> dict[str, Any]:
        """The fields of an assistant message that give the thoughts back to their server."""
        data: dict[str, Any] = {self._field: self.text} if self._field and self.text else {}
        if self._details:
            data["reasoning_details"] = json.loads(mend(json.dumps(self._details, ensure_ascii=False)))
        return data

    def _join(self, piece: dict[str, Any]) -> None:
        """Add a piece of a block to the block that it continues, or begin a new one."""
        last = self._details[-1] if self._details else {}
        if not last or any(last.get(key) != piece.get(key) for key in ("type", "index")):
            self._details.append(dict(piece))
            return
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str) and isinstance(last.get(key), str):
                last[key] += value
            elif value is not None:
                last[key] = value


def text_of(parts: Any) -> str:
    """The text of a list of parts, where a server sends such in place of a string."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") or part.get("summary") for part in parts if isinstance(part, Mapping))
    return "".join(text for text in texts if isinstance(text, str))
