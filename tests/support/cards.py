"""What may be said of the cards of tool calls: each is begun, changed up to its end, and ends before its prompt."""

from __future__ import annotations

from typing import Any

ENDS = ("completed", "failed")


class Cards:
    """The cards of one connection, each as its last update left it."""

    def __init__(self) -> None:
        self._status: dict[tuple[str, str], str] = {}

    def told(self, session: str, update: dict[str, Any]) -> list[str]:
        """What is wrong with the next update of a session. A load begins each card anew."""
        kind, card = update.get("sessionUpdate"), str(update.get("toolCallId"))
        if kind not in ("tool_call", "tool_call_update"):
            return []
        before = self._status.get((session, card))
        self._status[session, card] = str(update.get("status") or (before if kind == "tool_call_update" else "pending"))
        if kind == "tool_call":
            return []
        if before is None:
            return [f"card {card} is changed and was never begun"]
        return [f"card {card} is changed after its end"] if before in ENDS else []

    def left_open(self, session: str) -> list[str]:
        """What is wrong when no prompt of the session runs any more."""
        states = {card: status for (owner, card), status in self._status.items() if owner == session}
        return [f"card {card} is left {status}" for card, status in states.items() if status not in ENDS]
