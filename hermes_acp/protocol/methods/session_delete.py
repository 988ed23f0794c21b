"""session/delete: remove a session for good."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import SessionParams
from hermes_acp.protocol.routes import Call, Route


async def delete_session(call: Call[App], params: SessionParams) -> dict[str, Any]:
    """Close the session if it is open, and delete it. An unknown one is deleted already."""
    app = call.app
    call.commit()
    if session := app.sessions.find(params.session_id):
        await app.sessions.close(session)
    await app.store.delete(params.session_id)
    return {}


ROUTE = Route("session/delete", SessionParams, delete_session)
