"""A provider that says what its replies cost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from hermes_acp.agent.providers.base import Delta, Layer, Reply, Request
from hermes_acp.agent.providers.prices import Prices
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(slots=True)
class Priced(Layer):
    """Passes on what `provider` says; its replies cost what their tokens do by `prices`."""

    prices: Prices

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        async with aclosing(self.provider.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Reply) and delta.usage is not None:
                    yield replace(delta, cost=self.prices.cost(delta.usage))
                else:
                    yield delta
