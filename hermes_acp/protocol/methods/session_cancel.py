"""session/cancel: stop a session's running prompt and answer every waiting one."""

from __future__ import annotations

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import SessionParams
from hermes_acp.protocol.routes import Listener


def cancel_session(app: App, params: SessionParams) -> None:
    """Cancel; an idle or unknown session is left as it is."""
    if session := app.sessions.find(params.session_id):
        session.turns.cancel_all()


LISTENER = Listener("session/cancel", SessionParams, cancel_session)
