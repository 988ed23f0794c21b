"""The answer of a model to one question, when nobody watches it being given."""

from __future__ import annotations

from contextlib import aclosing

from hermes_acp.agent.providers.base import Provider, Reply, Request
from hermes_acp.errors import ProviderError


async def answer_of(provider: Provider, request: Request) -> Reply:
    """The reply to a request.

    Raises:
        ProviderError: there was none.
    """
    async with aclosing(provider.stream(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Reply):
                return delta
    raise ProviderError("The stream ended without a reply.", kind="incomplete")
