"""The conversation of a program's agent: opened with its first prompt, closed with the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import field
from pathlib import Path

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import Agent
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.thought_levels import DEFAULT, fitted, in_request, read_level
from hermes_acp.agent.titles import first_title
from hermes_acp.agent.trust import Trust
from hermes_acp.agent.trusting import adopt_agreed, settle_project
from hermes_acp.assembly import Models
from hermes_acp.config import Config, Mode
from hermes_acp.errors import ConfigError, SessionNotFound
from hermes_acp.events import Event, Notice
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.servers import JOIN_SECONDS, Servers
from hermes_acp.opening import Opening, Terms, terms
from hermes_acp.plugins.loading import LOADING
from hermes_acp.talk.models import open_models
from hermes_acp.talk.setup import Setup
from hermes_acp.tools.safety.confining import too_wide


@dataclass(slots=True)
class Talk:
    """One session with its store, models and MCP servers, on the loop it is opened on.

    `tell` takes what the person should know. `model` is the one that answers, "" for the configured one. `open` may be
    cancelled or fail at any moment: the next one goes on where it was. `patience`: seconds that a prompt
    waits for MCP servers that start. `trust` is what the person has said of what projects bring.
    """

    setup: Setup
    session_id: str
    tell: Callable[[Event], None]
    conversation: Conversation | None = None
    models: Models | None = None
    record: SessionRecord | None = None
    servers: Servers | None = None
    model: str = ""
    patience: float = JOIN_SECONDS
    trust: Trust = field(default_factory=Trust)
    _store: Store | None = None
    _terms: Terms | None = None
    _titled: bool = False
    _placed: bool = False
    _equipped: bool = False

    def __post_init__(self) -> None:
        self.trust.file = self.setup.settings.home.trust_file

    async def open(self) -> Conversation:
        """The conversation, once there is a model to talk to and the session is stored.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: a setting is wrong, or the session belongs to another folder than the one given.
            SessionNotFound: no session has the id that was given.
            StoreError: the store cannot be used.
        """
        if self.record is None:
            self.record = await self._find()
        if self.models is None or self._terms is None:
            self._terms = await terms(self.setup.settings, self._folders)
            self.models = await open_models(self.setup, self._terms.config)
        if self.conversation is None:
            self.conversation = await self._converse(self.record, self._terms)
        if not self._equipped:
            await self._equip(self.conversation)
        return self.conversation

    async def settle_project(self, host: Host) -> None:
        """Before a turn of an open conversation: ask about what the project brings, and take in the servers' tools."""
        assert self.conversation is not None
        assert self.servers is not None
        for notice in await settle_project(self.trust, self.conversation, self.servers, host):
            self.tell(notice)

    def where_commands_run(self) -> str:
        """In words, whether commands run in a sandbox; once for an open conversation, then ""."""
        if self._placed or self.conversation is None:
            return ""
        self._placed = True
        return self.conversation.workspace.enclosure.told

    def agent(self) -> Agent:
        """What answers in an open conversation."""
        assert self.models is not None
        agent = self.models.agent(self.model or self.models.endpoint.model)
        return self._opening.informed(agent, self.tell)

    def begin_title(self, prompt: str) -> None:
        """Call the session by the first words of its first prompt, as long as it has no title."""
        title = first_title(prompt)
        if self._titled or not title or self.conversation is None:
            return
        self._titled = True
        self.conversation.journal.update(title=title)

    @property
    def trajectories(self) -> Path | None:
        """The folder that keeps the session's trajectories: the process's own when they were asked for here, else as
        the settings say; None: they are not kept."""
        if self.setup.save_trajectories is not None:
            return Path() if self.setup.save_trajectories else None
        return self.setup.settings.home.state if self._config.trajectories.save else None

    @property
    def approval_timeout(self) -> float:
        """Seconds that an answer is waited for, 0 for ever."""
        return self._config.approvals.timeout

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that there are in an open conversation."""
        assert self._terms is not None
        return self._terms.modes

    @property
    def _config(self) -> Config:
        return self._terms.config if self._terms else self.setup.settings.config

    @property
    def _folders(self) -> tuple[Path, ...]:
        assert self.record is not None
        return (Path(self.record.cwd), *map(Path, self.record.roots))

    async def _equip(self, conversation: Conversation) -> None:
        """Load the plugins and start the MCP servers."""
        assert self.servers is not None
        notices = (await asyncio.to_thread(LOADING)).notices()
        self._equipped = True
        for notice in notices:
            self.tell(notice)
        self.servers.use(())
        await adopt_agreed(self.trust, conversation.workspace.cwd, self.servers)

    async def aclose(self) -> None:
        """Close all of it; everything that was noted is kept."""
        async with AsyncExitStack() as stack:
            if self._store is not None:
                stack.push_async_callback(self._store.aclose)
            if self.models is not None:
                stack.push_async_callback(self.models.aclose)
            if self.conversation is not None:
                stack.push_async_callback(self.conversation.workspace.aclose)
            if self.servers is not None:
                stack.push_async_callback(self.servers.close)

    @property
    def store(self) -> Store:
        """The person's sessions."""
        if self._store is None:
            self._store = Store(self.setup.settings.home.database)
        return self._store

    async def _find(self) -> SessionRecord:
        store = self.store
        record = await store.find(self.session_id)
        if store.problem:
            self.tell(Notice("warning", "About the stored sessions", store.problem))
        if record is None and self.setup.session_id is not None:
            raise SessionNotFound(self.session_id)
        if record is None:
            return await store.create(SessionRecord(self.session_id, str(self.setup.cwd or Path.cwd())))
        if self.setup.cwd is not None and record.cwd != str(self.setup.cwd):
            raise ConfigError(f"cwd: the session {self.session_id} belongs to {record.cwd}")
        return record

    async def _converse(self, record: SessionRecord, found: Terms) -> Conversation:
        self._titled = bool(record.title)
        opened = await self._opening.session(record, found.config, self._mode(record, found), self.agent)
        opened.conversation.thought_level = self._effort(found.config)
        opened.servers.patience = self.patience
        self.servers = opened.servers
        return opened.conversation

    @property
    def thought_level(self) -> str:
        """The level that was chosen for the session, unless another one was given: "" for that of the settings."""
        stored = self.record.options.get("thought_level", "") if self.record else ""
        return "" if "agent.thought_level" in self.setup.given else stored

    def _effort(self, config: Config) -> str:
        """How much the model is to think, as requests carry it."""
        assert self.models is not None
        wanted = read_level(self.thought_level) or config.agent.thought_level or DEFAULT
        return in_request(fitted(wanted, self.models.levels(self.model or self.models.endpoint.model)))

    @property
    def _opening(self) -> Opening:
        return Opening(self.store, self.setup.settings.home, self.trust)

    def _mode(self, record: SessionRecord, found: Terms) -> Mode:
        """The mode that was given, else the session's own, else the configured one."""
        stored = next((mode for mode in found.modes if mode == record.options.get("mode")), None)
        given = "approvals.mode" in self.setup.given
        mode = found.config.approvals.mode if given or stored is None else stored
        if mode in found.modes:
            return mode
        if given:
            raise ConfigError(f"approvals.mode: {mode} needs a sandbox, and there is none: {too_wide(self._folders)}")
        return found.modes[0]
