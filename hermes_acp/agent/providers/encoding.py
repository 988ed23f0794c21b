"""What the requests of all APIs have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.messages import Image, Opaque, Text, ToolMessage

NO_OUTPUT = "(no output)"
NO_WORDS = "(no words)"
"""What stands for a text that is empty: servers refuse such."""

_BAD_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def tool_name(name: str) -> str:
    """The name of a tool, in letters that every server takes; a model may have invented any."""
    return _BAD_NAME.sub("_", name)[:64] or "unnamed"


def pictures_beside(result: ToolMessage) -> list[Text | Image]:
    """The pictures of a result under words that say whose they are, for servers whose results hold text only."""
    return [Text(f"From {result.name} ({result.call_id}):"), *result.images] if result.images else []


def replayed(opaque: Opaque | None, endpoint: Endpoint) -> Mapping[str, Any]:
    """The reasoning material that may go back to this endpoint: its own model's, else none.

    Its keys are the API's own, so that what another API of the same endpoint gave is told by them.
    """
    if opaque is None or (opaque.provider, opaque.model) != (endpoint.provider, endpoint.model):
        return {}
    return opaque.data if isinstance(opaque.data, Mapping) else {}
