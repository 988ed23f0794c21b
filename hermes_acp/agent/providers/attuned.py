"""A provider that is told how much to think in the words that its own model takes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

from hermes_acp.agent.providers.base import Delta, Layer, Request
from hermes_acp.agent.thought_levels import DEFAULT, Levels, fitted, in_request, read_level
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(slots=True)
class Attuned(Layer):
    """Asks a reserve to think as much as the conversation's own model is to, as near as its `levels` allow."""

    levels: Levels

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        level = fitted(read_level(request.thought_level) or DEFAULT, self.levels)
        return self.provider.stream(replace(request, thought_level=in_request(level)))
