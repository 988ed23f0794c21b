"""Where a model is reached, as resolved from the settings."""

from __future__ import annotations

from dataclasses import field
from urllib.parse import SplitResult, urlsplit

from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an address.

    `provider` is its name as the person knows it. `api_key` is "" for servers that want none; it is never shown.
    `stall_timeout`: seconds that an answer may make no progress. `sees_images`: whether pictures are sent, or only
    named; a server that refuses them is believed. `anthropic_version` is the version to ask a Messages API for, ""
    for the usual one; `max_output`: the tokens that an answer may have, 0 for what the model's name tells.
    """

    provider: str
    model: str
    base_url: str
    api_key: str = field(default="", repr=False)
    stall_timeout: float = 120.0
    sees_images: bool = True
    anthropic_version: str = ""
    max_output: int = 0

    @property
    def host(self) -> str:
        """The host of the address, or "" when it has none."""
        return self._parts.hostname or ""

    @property
    def path(self) -> str:
        """The path of the address, without a slash at its end."""
        return self._parts.path.rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether this machine itself is asked, in plain HTTP."""
        loopback = self.host in ("localhost", "::1") or self.host.startswith("127.")
        return loopback and self.base_url.startswith("http:")

    @property
    def _parts(self) -> SplitResult:
        try:
            return urlsplit(self.base_url)
        except ValueError:
            return urlsplit("")
