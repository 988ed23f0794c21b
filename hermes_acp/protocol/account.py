"""Whether there is a model to talk to on this connection, and which."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.agent.thought_levels import Levels
from hermes_acp.assembly import Models, models_of
from hermes_acp.commands.options import Options, restore_options
from hermes_acp.config import Config
from hermes_acp.errors import CredentialsMissing, HermesError
from hermes_acp.events import Notice
from hermes_acp.local.waiting import surely
from hermes_acp.opening import Terms, terms
from hermes_acp.protocol import garbage
from hermes_acp.settings import (
    Home,
    ModelEndpoint,
    Settings,
    is_signed_out,
    resolve_model,
    sign_in,
    sign_out,
)
from hermes_acp.settings.keyring_key import PATIENCE, SOON, KeyringKey, not_answered
from hermes_acp.settings.local_search import LocalSearch

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent

log = logging.getLogger(__name__)

_SIGNED_OUT = "You are signed out: authenticate in the editor, or run `hermes-acp-agent setup`, to use your keys again."


class Account:
    """The person's settings as they are now, and the models built from them.

    `read` reads the settings anew. What is wrong with them is raised when a session is asked for, not
    before: `initialize` is answered all the same.
    """

    def __init__(self, read: Callable[[], Settings]) -> None:
        self._read = read
        self._settings: Settings | None = None
        self._models: Models | None = None
        self._retired: list[Models] = []
        self._local = LocalSearch()
        self._keyring = KeyringKey()
        self._warming: asyncio.Task[None] | None = None
        self._settling: asyncio.Task[None] | None = None
        self._logouts = 0
        self._signing = asyncio.Lock()

    @property
    def notices(self) -> list[Notice]:
        """What the person should know of the model, when they did not choose it."""
        return self._local.notices

    @property
    def home(self) -> Home:
        """Where the person's settings and the agent's state are."""
        return self._current().home

    async def look(self, folders: tuple[Path, ...]) -> Terms:
        """What holds in a session's folders, the one that it works in first, once there is a model to talk to.

        A model server on this machine is looked for if nothing is configured; one that is found is kept. A key in the
        keyring is asked for; one that takes long is waited for by `ready`.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: a setting is wrong, or the keyring gives no key.
        """
        signed_out = await self._load()
        if self._models is None and not signed_out:
            await self._local.run(self._current())
        await self._unlock(SOON)
        return await terms(self._current(), folders)

    async def ready(self) -> None:
        """Wait until the model can be asked: the person may have to unlock the keyring.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: the keyring gives no key.
        """
        await self._unlock(PATIENCE)
        if self._present().endpoint.in_keyring:
            raise not_answered(self._present().endpoint.base_url)

    def options(self, stored: Mapping[str, str], found: Terms) -> Options:
        """A session's options: what was stored as far as it still exists, else the configured values.

        Args:
            stored: what was stored with the session.
            found: what holds in its folders.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: a setting is wrong.
        """
        return restore_options(self._present(), stored, found.config.approvals.mode, found.modes)

    def models(self) -> tuple[tuple[str, ...], str, Callable[[str], Levels]]:
        """The models that may be chosen, the default first, the address where they are, and how much each can be told
        to think.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: a setting is wrong.
        """
        models = self._present()
        return models.names, models.endpoint.base_url, models.levels

    def agent(self, model: str, config: Config) -> Agent:
        """The agent that a session of this model and these settings uses now.

        Raises:
            CredentialsMissing: the person has logged out.
        """
        models = self._present()
        agent = models.agent(model if models.knows(model) else models.names[0])
        return replace(agent, max_calls=config.agent.max_turns)

    def trajectories(self, config: Config) -> Path | None:
        """The folder that keeps the trajectories of sessions with these settings; None: they are not kept."""
        return self._current().home.state if config.trajectories.save else None

    def warm(self, listed: Callable[[], None]) -> None:
        """Load in the background what the first prompt needs, then look what models there are.

        Args:
            listed: called once more models are known.
        """
        models = self._models
        if models is None or self._warming:
            return
        if models.endpoint.in_keyring:
            self._warming = asyncio.get_running_loop().create_task(self._warm_late(listed))
        else:
            models.warm(lambda: listed() if models is self._models else None)
            self._settling = asyncio.get_running_loop().create_task(_settle(models))

    async def authenticate(self, found: Callable[[], None] = lambda: None) -> None:
        """Look again for a model, and end a logout if there is one; one that comes meanwhile holds.

        Args:
            found: called when there is a model, before a logout is ended.

        Raises:
            CredentialsMissing: there is still none.
        """
        logouts = self._logouts
        self._retire()
        await self._load()
        settings = self._current()
        await self._local.run(settings)
        endpoint = self._endpoint(settings)
        if endpoint.in_keyring and await self._keyring.read(endpoint.base_url, PATIENCE) is None:
            raise not_answered(endpoint.base_url)
        found()
        async with self._signing:
            if self._logouts == logouts:
                await surely(asyncio.to_thread(sign_in, settings.home))

    async def logout(self) -> None:
        """Use no credentials until the next authenticate, also after a restart."""
        self._logouts += 1
        await self._load()
        try:
            async with self._signing:
                await surely(asyncio.to_thread(sign_out, self._current().home))
        finally:
            self._retire()

    async def aclose(self) -> None:
        """Close every connection to a model."""
        self._retire()
        for task in filter(None, (self._warming, self._settling)):
            task.cancel()
        for models in self._retired:
            await models.aclose()

    def _present(self) -> Models:
        if self._models is None:
            settings = self._current()
            if is_signed_out(settings.home):
                raise CredentialsMissing(_SIGNED_OUT)
            self._models = models_of(self._endpoint(settings), settings)
        return self._models

    async def _unlock(self, seconds: float) -> None:
        models = self._present()
        if not models.endpoint.in_keyring:
            return
        key = await self._keyring.read(models.endpoint.base_url, seconds)
        if key is not None:
            models.unlock(key)

    async def _warm_late(self, listed: Callable[[], None]) -> None:
        try:
            await self.ready()
        except HermesError as error:
            log.info("the key is still missing: %s", error)
            return
        finally:
            self._warming = None
        self.warm(listed)

    def _endpoint(self, settings: Settings) -> ModelEndpoint:
        return self._local.endpoint or resolve_model(settings)

    async def _load(self) -> bool:
        """Have the settings there, read in a thread if they are not; whether the person has logged out."""
        known = self._settings
        settings, signed_out = await asyncio.to_thread(self._state, known)
        if self._settings is known:
            self._settings = settings
        return signed_out

    def _state(self, known: Settings | None) -> tuple[Settings, bool]:
        """The settings, and whether the person has logged out."""
        settings = known or self._read()
        return settings, is_signed_out(settings.home)

    def _current(self) -> Settings:
        if self._settings is None:
            self._settings = self._read()
        return self._settings

    def _retire(self) -> None:
        """Forget settings and models. Turns that run still use theirs; those are closed with the connection."""
        if self._models is not None:
            self._retired.append(self._models)
        self._models = self._settings = None
        self._local.forget()


async def _settle(models: Models) -> None:
    """All is imported once the models are warm."""
    await models.warmed()
    garbage.look_as_usual()
