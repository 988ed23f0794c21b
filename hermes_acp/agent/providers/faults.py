"""What can be wrong with an answer that has begun, in words that name its server and no key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.failures import MAX_READ, failure_of, provider_error
from hermes_acp.agent.providers.masking import masked
from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.nesting import DEEPEST, is_deep


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_JSON = json.JSONDecoder(parse_constant=lambda name: None, parse_float=_finite)
"""NaN and infinity are no JSON; where a server writes them nevertheless, or a number like 1e999, they say nothing."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of an endpoint's answers; `expected` is what they should be, such as "chat completion"."""

    endpoint: Endpoint
    expected: str

    def json_object(self, data: str) -> Mapping[str, Any]:
        """The JSON object that an event or a whole answer is.

        Raises:
            ProviderError: it is none, or nested too deeply ("malformed").
        """
        try:
            value = _JSON.decode(data)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and not (_may_be_deep(data) and is_deep(value)):
            return value
        raise self.malformed(data)

    def malformed(self, data: str) -> ProviderError:
        """The error for data that means nothing."""
        found = masked(data[:MAX_READ], self.endpoint.api_key)[:200]
        return ProviderError(f"{self.endpoint.provider} sent what is no {self.expected}: {found}", kind="malformed")

    def told(self, body: Any) -> ProviderError:
        """The error that the answer itself tells."""
        return provider_error(failure_of(body), self.endpoint.provider, self.endpoint.api_key)

    def incomplete(self) -> ProviderError:
        """The error for a stream that ended before its terminal event."""
        return ProviderError(f"{self.endpoint.provider}: the answer ended before it was complete.", kind="incomplete")


def _may_be_deep(data: str) -> bool:
    """Whether it is worth looking: counting brackets costs next to nothing, and deltas come by the thousand."""
    return data.count("[") + data.count("{") >= DEEPEST


def count_of(holder: Any, name: str) -> int:
    """A number of tokens in an object that may be anything; 0 when it is not there."""
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0
