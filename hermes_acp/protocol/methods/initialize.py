"""initialize, when `boot` could not answer it: a first line that came late, or a second hello."""

from __future__ import annotations

from typing import Any

from hermes_acp.protocol.app import App
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.inbound import InitializeParams
from hermes_acp.protocol.initialize import answer
from hermes_acp.protocol.routes import Call, Route


async def initialize(call: Call[App], params: InitializeParams) -> dict[str, Any]:
    """Tell what the agent is and can do, and take note of what the editor can."""
    said = params.model_dump(by_alias=True)
    call.app.sessions.client = ClientCapabilities.of(said)
    return answer(said)


ROUTE = Route("initialize", InitializeParams, initialize)
