"""session/resume: an earlier session, without showing it again."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import ResumeSessionParams
from hermes_acp.protocol.routes import Call, Route


async def resume_session(call: Call[App], params: ResumeSessionParams) -> dict[str, Any]:
    """Open the session; the model has its history again, the editor is sent nothing of it."""
    app = call.app
    session = await app.sessions.open(params.session_id, params.place())
    call.after(lambda: app.announce(session, params.mcp_servers))
    return session.shown.state()


ROUTE = Route("session/resume", ResumeSessionParams, resume_session)
