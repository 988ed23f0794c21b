"""A provider that asks again when a model call failed for a passing reason."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing

from hermes_acp.agent.providers.base import Delta, Layer, Request
from hermes_acp.agent.providers.shown import Shown
from hermes_acp.errors import RETRYABLE, ProviderError
from hermes_acp.events import Notice, StatusChanged
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how long: `attempts` in all, waits of `first` seconds doubling up to `longest`.

    A longer wait than `longest` that a server asks for is not waited. `jitter` gives the factor by which a
    wait is lengthened, so that many clients do not come back at once.
    """

    attempts: int = 3
    first: float = 2.0
    longest: float = 60.0
    jitter: Callable[[], float] = lambda: random.uniform(1.0, 1.25)

    def wait(self, failures: int, error: ProviderError) -> float | None:
        """Seconds to wait after so many failures, or None when the error is to be raised."""
        asked = error.retry_after
        if error.kind not in RETRYABLE or failures >= self.attempts or (asked or 0) > self.longest:
            return None
        if asked is not None:
            return asked
        return min(self.first * 2.0 ** (failures - 1) * self.jitter(), self.longest)


USUAL = Backoff()
"""How the model of a conversation is asked again."""


@dataclass(slots=True)
class Retrying(Layer):
    """Asks `provider` again after a failure that may pass, unless some of the answer was already shown.

    Drafted calls of a broken attempt are closed as failed, whether or not another attempt follows.
    """

    backoff: Backoff = USUAL
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        failures = 0
        while True:
            shown = Shown()
            try:
                async with aclosing(self.provider.stream(request)) as deltas:
                    async for delta in deltas:
                        shown.note(delta)
                        yield delta
                return
            except ProviderError as caught:
                error = caught
            failures += 1
            for closed in shown.closing():
                yield closed
            wait = None if shown.answer else self.backoff.wait(failures, error)
            if wait is None:
                raise error
            for told in _told(shown, error, wait):
                yield told
            await self.sleep(wait)


def _told(shown: Shown, error: ProviderError, wait: float) -> Iterator[Notice | StatusChanged]:
    if shown.thoughts or shown.drafts:
        yield Notice("warning", "The answer broke off; asking again.", str(error))
    yield StatusChanged("retrying", f"{error} Trying again in {wait:.0f} s.")
