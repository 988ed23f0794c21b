"""session/set_mode: what runs without asking."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import SetModeParams
from hermes_acp.protocol.routes import Call, Route


async def set_mode(call: Call[App], params: SetModeParams) -> dict[str, Any]:
    """Set the mode; it holds from the next call of a tool on, also in a running turn."""
    session = call.app.sessions.get(params.session_id)
    call.commit()
    await session.shown.set("mode", params.mode_id, "modeId")
    call.after(session.shown.announce)
    return {}


ROUTE = Route("session/set_mode", SetModeParams, set_mode)
