"""The conversation of a program's agent: opened with its first prompt, closed with the agent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import field
from functools import partial
from pathlib import Path

from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.trust import Trust
from hermes_acp.config import Mode
from hermes_acp.errors import ConfigError, SessionNotFound
from hermes_acp.events import Event, Notice
from hermes_acp.groundwork import Groundwork
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.servers import JOIN_SECONDS
from hermes_acp.opening import Opening, Terms, terms
from hermes_acp.talk.answering import Answering
from hermes_acp.talk.models import open_models
from hermes_acp.talk.open_talk import OpenTalk
from hermes_acp.talk.setup import Setup
from hermes_acp.tools.safety.confining import too_wide


@dataclass(slots=True)
class Talk:
    """One session and the way into it, on the loop it is opened on.

    `tell` takes what the person should know. `patience`: seconds that a prompt waits for MCP servers that start.
    `open` may be cancelled or fail at any moment: `record`, `answering` and `opened` are what it has come to, each made
    once, and the next one goes on from there.
    """

    setup: Setup
    session_id: str
    tell: Callable[[Event], None]
    patience: float = JOIN_SECONDS
    record: SessionRecord | None = None
    answering: Answering | None = None
    opened: OpenTalk | None = None
    _opening: Opening = field(init=False)

    def __post_init__(self) -> None:
        home = self.setup.settings.home
        self._opening = Opening(Store(home.database), home, Trust(home.trust_file))

    @property
    def store(self) -> Store:
        """The person's sessions."""
        return self._opening.store

    async def open(self) -> OpenTalk:
        """The session, once there is a model to talk to, and it is stored and has its plugins and MCP servers.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: a setting is wrong, or the session belongs to another folder than the one given.
            SessionNotFound: no session has the id that was given.
            StoreError: the store cannot be used.
        """
        if self.record is None:
            self.record = await self._find()
        if self.answering is None:
            self.answering = await self._look(self.record)
        if self.opened is None:
            self.opened = await self._enter(self.record, self.answering)
        await self.opened.groundwork.load_plugins()
        await self.opened.groundwork.adopted()
        return self.opened

    async def aclose(self) -> None:
        """Close all of it; everything that was noted is kept."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.store.aclose)
            if self.answering is not None:
                stack.push_async_callback(self.answering.models.aclose)
            if self.opened is not None:
                stack.push_async_callback(self.opened.conversation.workspace.aclose)
                stack.push_async_callback(self.opened.groundwork.close)

    async def _find(self) -> SessionRecord:
        record = await self.store.find(self.session_id)
        if self.store.problem:
            self.tell(Notice("warning", "About the stored sessions", self.store.problem))
        if record is None and self.setup.session_id is not None:
            raise SessionNotFound(self.session_id)
        if record is None:
            return await self.store.create(SessionRecord(self.session_id, str(self.setup.cwd or Path.cwd())))
        if self.setup.cwd is not None and record.cwd != str(self.setup.cwd):
            raise ConfigError(f"cwd: the session {self.session_id} belongs to {record.cwd}")
        return record

    async def _look(self, record: SessionRecord) -> Answering:
        found = await terms(self.setup.settings, _folders(record))
        models = await open_models(self.setup, found.config)
        return Answering(found, models, partial(self._opening.informed, tell=self.tell))

    async def _enter(self, record: SessionRecord, answering: Answering) -> OpenTalk:
        """Open the session, and let its MCP servers start."""
        stored, found = self.setup.not_given(record.options), answering.terms
        mode = self._mode(record, found)
        opened = await self._opening.session(record, found.config, mode, answering.agent)
        opened.conversation.thought_level = answering.effort(stored.get("thought_level", ""))
        opened.servers.patience = self.patience
        groundwork = Groundwork(opened.conversation, opened.servers, self._opening.trust, self.tell)
        groundwork.start_servers()
        return OpenTalk(self.setup, record, answering, opened.conversation, groundwork)

    def _mode(self, record: SessionRecord, found: Terms) -> Mode:
        """The mode that was given, else the session's own, else the configured one."""
        stored = self.setup.not_given(record.options).get("mode")
        mode = next((mode for mode in found.modes if mode == stored), found.config.approvals.mode)
        if mode in found.modes:
            return mode
        if "approvals.mode" in self.setup.given:
            raise ConfigError(
                f"approvals.mode: {mode} needs a sandbox, and there is none: {too_wide(_folders(record))}"
            )
        return found.modes[0]


def _folders(record: SessionRecord) -> tuple[Path, ...]:
    return (Path(record.cwd), *map(Path, record.roots))
