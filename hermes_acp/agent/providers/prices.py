"""What the tokens of a model cost."""

from __future__ import annotations

from hermes_acp.agent.providers.base import Usage
from hermes_acp.lazy_dataclasses import dataclass

_MILLION = 1_000_000

Tiers = tuple[tuple[int, float], ...]
"""Prices by the size of the request: (from so many input tokens, US dollars for a million)."""


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; what is read from a cache or written to one may have a price of its own."""

    input: Tiers
    output: Tiers
    cached: Tiers = ()
    kept: Tiers = ()

    def cost(self, usage: Usage) -> float:
        """US dollars of one model call."""
        at = usage.input
        fresh = max(usage.input - usage.cached - usage.kept, 0)
        counted = (
            (fresh, self.input),
            (usage.cached, self.cached or self.input),
            (usage.kept, self.kept or self.input),
            (usage.output, self.output),
        )
        return sum(tokens * _at(tiers, at) for tokens, tiers in counted) / _MILLION


def _at(tiers: Tiers, tokens: int) -> float:
    return next((price for start, price in reversed(tiers) if tokens >= start), 0.0)
