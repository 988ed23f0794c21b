"""session/set_config_option: mode, model or thought level of a session."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.inbound import SetConfigOptionParams
from hermes_acp.protocol.options import config_options
from hermes_acp.protocol.routes import Call, Route


async def set_config_option(call: Call[App], params: SetConfigOptionParams) -> dict[str, Any]:
    """Set one option; the answer is the complete list."""
    session = call.app.sessions.get(params.session_id)
    if not session.options.allowed(params.config_id):
        raise invalid_params(f"configId: there is no option {params.config_id!r}")
    call.commit()
    await session.shown.set(params.config_id, params.value, "value")
    call.after(session.shown.announce)
    return {"configOptions": config_options(session.options)}


ROUTE = Route("session/set_config_option", SetConfigOptionParams, set_config_option)
