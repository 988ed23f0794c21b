"""A provider that counts what is asked of another one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import field

from hermes_acp.agent.providers.base import Delta, Layer, Reply, Request, Usage
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(slots=True)
class Counted(Layer):
    """Passes on what `provider` says. `calls` are the requests so far, `usage` sums the tokens of their replies:
    also of a turn that has no result, because it failed or was interrupted."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        self.calls += 1
        async with aclosing(self.provider.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Reply) and delta.usage is not None:
                    self.usage += delta.usage
                yield delta
