"""logout: use no credentials until the next authenticate."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.inbound import EmptyParams
from hermes_acp.protocol.routes import Call, Route


async def logout(call: Call[App], params: EmptyParams) -> dict[str, Any]:
    """Stop using keys, from the environment too; kept over restarts in the state folder."""
    call.commit()
    await call.app.account.logout()
    return {}


ROUTE = Route("logout", EmptyParams, logout)
