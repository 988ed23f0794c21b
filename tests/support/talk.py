"""What tests read of a conversation on the wire, and the params that they send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.editor import Editor


def cards(editor: Editor, session: str) -> dict[str, dict[str, Any]]:
    """The cards of a session as they stand: each field as the last update of the card left it."""
    found: dict[str, dict[str, Any]] = {}
    for call_id, updates in card_updates(editor, session).items():
        for update in updates:
            found.setdefault(call_id, {}).update(update)
    return found


def card_updates(editor: Editor, session: str) -> dict[str, list[dict[str, Any]]]:
    """The updates of each card of a session, by its id, in wire order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for update in editor.updates(session):
        if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
            found.setdefault(update["toolCallId"], []).append(update)
    return found


def states(editor: Editor, session: str) -> dict[str, list[str]]:
    """The states that each card went through, without repetitions."""
    seen: dict[str, list[str]] = {}
    for update in editor.updates(session):
        if "status" in update:
            history = seen.setdefault(update["toolCallId"], [])
            history += [] if history[-1:] == [update["status"]] else [update["status"]]
    return seen


def of_session(editor: Editor, session: str) -> list[dict[str, Any]]:
    """Every line that names the session, in wire order."""
    return [line for line in editor.lines if (line.get("params") or {}).get("sessionId") == session]


def open_params(session: str, project: Path, **more: Any) -> dict[str, Any]:
    """The params that load, resume and fork share."""
    return {"sessionId": session, "cwd": str(project), "mcpServers": [], **more}


def prompt_params(session: str, *blocks: Any) -> dict[str, Any]:
    """The params of a prompt; a text is a text block."""
    texts = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"sessionId": session, "prompt": texts}
