"""authenticate: look again for a model that can answer."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.inbound import AuthenticateParams
from hermes_acp.protocol.initialize import AGENT_METHOD
from hermes_acp.protocol.routes import Call, Route


async def authenticate(call: Call[App], params: AuthenticateParams) -> dict[str, Any]:
    """Read the configuration anew and end a logout; -32000 when nothing is configured."""
    if params.method_id != AGENT_METHOD:
        raise invalid_params(f"methodId: {params.method_id!r} cannot be used here; use {AGENT_METHOD!r}")
    await call.app.account.authenticate(call.commit)
    call.after(call.app.sessions.offer_models)
    return {}


ROUTE = Route("authenticate", AuthenticateParams, authenticate)
