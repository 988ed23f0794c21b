"""session/load: an earlier session with everything that was shown in it."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import LoadSessionParams
from hermes_acp.protocol.routes import Call, Route


async def load_session(call: Call[App], params: LoadSessionParams) -> dict[str, Any]:
    """Open the session and replay it, in order, before the answer."""
    app = call.app
    session = await app.sessions.open(params.session_id, params.place())
    await session.replay()
    call.after(lambda: app.announce(session, params.mcp_servers))
    return session.shown.state()


ROUTE = Route("session/load", LoadSessionParams, load_session)
