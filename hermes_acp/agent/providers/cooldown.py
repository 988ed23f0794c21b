"""How long a model that failed is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable

from hermes_acp.errors import ProviderError

LONGEST = 15 * 60.0
"""Seconds to which the cool-down of a model grows that fails again and again."""

LONGEST_ASKED = 60 * 60.0
"""Seconds that are granted to a server that asks for more."""


class Cooldown:
    """The rest of one model after a failure, shared by all who would ask it.

    The first one lasts `first` seconds. It doubles when the model fails again after its rest, and not by
    failures of requests that were under way together. A longer time that the server asked for is kept.
    `reason` says why it rests, or rested last.
    """

    def __init__(self, first: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._first = first
        self._clock = clock
        self._failures = 0
        self._until = 0.0
        self.reason = ""

    @property
    def over(self) -> bool:
        """Whether the model may be asked."""
        return self._clock() >= self._until

    def begin(self, error: ProviderError) -> None:
        """The model has failed."""
        if self.over:
            self._failures += 1
        grown = min(self._first * 2.0 ** min(self._failures - 1, 16), max(LONGEST, self._first))
        asked = min(error.retry_after or 0.0, LONGEST_ASKED)
        self._until = max(self._until, self._clock() + max(grown, asked))
        self.reason = str(error)

    def end(self) -> None:
        """The model has answered: its next rest is a first one again."""
        self._failures, self._until = 0, 0.0
