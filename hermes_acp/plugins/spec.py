"""The hooks that a plugin may have. It takes those arguments that it needs, by these names."""

from __future__ import annotations

from typing import Any

import pluggy

PROJECT = "hermes_acp"

_hook = pluggy.HookspecMarker(PROJECT)


@_hook
def pre_tool_call(tool: str, arguments: dict[str, Any], session_id: str, cwd: str) -> str | None:
    """Called before a call is judged, asked about and run.

    Args:
        tool: the tool's name, such as "terminal" or "mcp__server__tool".
        arguments: what the model wrote; a copy.
        session_id: the session's id.
        cwd: the session's folder.

    Returns:
        Why the call must not be made, for the model and the person; None when it may.
    """


@_hook
def post_tool_call(
    tool: str,
    arguments: dict[str, Any],
    result: str,
    is_error: bool,
    duration_s: float,
    session_id: str,
    cwd: str,
) -> None:
    """Called after a call that ran, before its result is kept; changes nothing.

    Args:
        result: the text that the model will read.
        is_error: whether the call failed.
        duration_s: seconds that it took.
        tool, arguments, session_id, cwd: as before the call.
    """
