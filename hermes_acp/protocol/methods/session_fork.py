"""session/fork: a new session that begins with everything of another (unstable in the protocol)."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import ForkSessionParams
from hermes_acp.protocol.outbound import session_info_update
from hermes_acp.protocol.routes import Call, Route
from hermes_acp.protocol.session import Session


async def fork_session(call: Call[App], params: ForkSessionParams) -> dict[str, Any]:
    """Copy the session, also while a turn of it runs; nothing of it is shown again."""
    app = call.app
    session = await app.sessions.fork(params.session_id, params.place())
    call.after(lambda: app.announce(session, params.mcp_servers))
    call.after(lambda: _tell_title(session))
    return {"sessionId": session.id, **session.shown.state()}


def _tell_title(session: Session) -> None:
    """The title came with the copy: no prompt will make one."""
    if session.title.text:
        session.host.update(session_info_update(session.title.text))


ROUTE = Route("session/fork", ForkSessionParams, fork_session)
