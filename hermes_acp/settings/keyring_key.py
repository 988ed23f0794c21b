"""The key of an endpoint that is in the system's keyring: read once, without anybody's request waiting for long."""

from __future__ import annotations

import asyncio

from hermes_acp.errors import ConfigError
from hermes_acp.local import confidential
from hermes_acp.settings.credentials import origin
from hermes_acp.settings.keyrings import KeyringUnusable, begin_reading

SOON = 0.25
"""Seconds that the opening of a session waits for the keyring."""

PATIENCE = 60.0
"""Seconds that a prompt or a login waits: the person may have to unlock it."""


class KeyringKey:
    """Reads of the keyring, one at a time for each origin, shared by all who wait."""

    def __init__(self) -> None:
        self._reading: dict[str, asyncio.Future[str]] = {}

    async def read(self, base_url: str, seconds: float) -> str | None:
        """The key for an address; None when the keyring has not answered in so many seconds.

        Raises:
            ConfigError: the keyring gives no key; the next call asks it again.
        """
        place = origin(base_url)
        if place not in self._reading:
            self._reading[place] = asyncio.wrap_future(begin_reading(place))
        reading = self._reading[place]
        await asyncio.wait({reading}, timeout=seconds)
        if not reading.done():
            return None
        self._reading.pop(place, None)
        try:
            key = reading.result()
        except KeyringUnusable as error:
            raise ConfigError(_unreadable(place, str(error))) from None
        confidential.keep(key)
        return key


def not_answered(base_url: str) -> ConfigError:
    """The keyring has kept a prompt waiting for too long."""
    return ConfigError(_unreadable(origin(base_url), f"it has not answered for {PATIENCE:g} seconds"))


def _unreadable(place: str, reason: str) -> str:
    return (
        f"The key for {place} is in the system keyring, which cannot be read: {reason}. "
        "Unlock it and try again, or run `hermes-acp-agent setup`."
    )
