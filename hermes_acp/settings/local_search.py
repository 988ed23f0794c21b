"""The look for a model server on this machine, and what was found, for as long as a connection lasts."""

from __future__ import annotations

import asyncio

from hermes_acp.events import Notice
from hermes_acp.settings.endpoint import ModelEndpoint
from hermes_acp.settings.load import Settings
from hermes_acp.settings.local_servers import FoundServer, look


class LocalSearch:
    """A look when nothing is configured. What was found is kept; that nothing was found is not."""

    def __init__(self) -> None:
        self._found: FoundServer | None = None
        self._looking: asyncio.Task[tuple[FoundServer, ...]] | None = None

    @property
    def endpoint(self) -> ModelEndpoint | None:
        """Where the model that was found is asked."""
        return self._found.endpoint if self._found else None

    @property
    def notices(self) -> list[Notice]:
        """What the person should know of a model that they did not choose."""
        return [_about(self._found)] if self._found else []

    def forget(self) -> None:
        """Look again the next time."""
        self._found = None

    async def run(self, settings: Settings) -> None:
        """Look, unless something is configured or was found. One look serves everyone who waits for it."""
        if self._found or not settings.says_no_model:
            return
        if self._looking is None:
            self._looking = asyncio.ensure_future(look(settings.local_servers))
        looking = self._looking
        found = await asyncio.shield(looking)
        if self._looking is looking:
            self._looking = None
            self._found = next((each for each in found if each.model), None)


def _about(found: FoundServer) -> Notice:
    name, assumed = (found.model.name, found.model.assumed) if found.model else ("", False)
    text = "No model is configured, so this one is used; `hermes-acp-agent setup` chooses another."
    if assumed:
        text += " Whether it can use tools is not known: the server does not tell."
    return Notice("info", f"{name} of {found.label} answers ({found.server.base_url})", text)
