"""session/close: stop a session's work and free it; it stays listed and can be loaded."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import SessionParams
from hermes_acp.protocol.routes import Call, Route


async def close_session(call: Call[App], params: SessionParams) -> dict[str, Any]:
    """Cancel the session's prompts, wait for their answers, end its processes."""
    session = call.app.sessions.get(params.session_id)
    call.commit()
    await call.app.sessions.close(session)
    return {}


ROUTE = Route("session/close", SessionParams, close_session)
