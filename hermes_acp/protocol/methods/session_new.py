"""session/new: a fresh session in a folder."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import NewSessionParams
from hermes_acp.protocol.routes import Call, Route


async def new_session(call: Call[App], params: NewSessionParams) -> dict[str, Any]:
    """Make and store a session; its commands follow the answer."""
    app = call.app
    session = await app.sessions.create(params.place())
    call.after(lambda: app.announce(session, params.mcp_servers))
    return {"sessionId": session.id, **session.shown.state()}


ROUTE = Route("session/new", NewSessionParams, new_session)
