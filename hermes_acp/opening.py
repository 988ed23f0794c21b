"""Opens stored sessions, the same for every face: their conversation, their own tools, their MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.expenses import Expenses
from hermes_acp.agent.history import close_open_turn, repair
from hermes_acp.agent.kept_workspace import KeptWorkspace
from hermes_acp.agent.store.journal import Journal
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.tools import AgentTools
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.agent.trust import Trust
from hermes_acp.config import Config, Mode
from hermes_acp.events import Event
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.mcp.server import Surroundings
from hermes_acp.mcp.servers import Servers
from hermes_acp.messages import Message
from hermes_acp.settings import Home, Settings, config_in
from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.safety.confining import modes_of, sandbox_for
from hermes_acp.tools.safety.paths import protect
from hermes_acp.workspace import Workspace

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds in a session's folders: the settings, which the project's own file may have tightened, and the modes
    that there are."""

    config: Config
    modes: tuple[Mode, ...]


async def terms(settings: Settings, folders: tuple[Path, ...]) -> Terms:
    """What holds for a session in these folders, the one that it works in first.

    Raises:
        ConfigError: the project's file is wrong, or the settings ask for what needs a sandbox, and there is none.
    """
    return await asyncio.to_thread(_terms, settings, folders)


def _terms(settings: Settings, folders: tuple[Path, ...]) -> Terms:
    config = config_in(settings, folders[0])
    return Terms(config, modes_of(config, folders))


@dataclass(frozen=True, slots=True)
class Opened:
    """What the engine knows of a session, the journal that all of it goes into, and its MCP servers, the person's own
    and those that an editor may name; none of them is started yet."""

    conversation: Conversation
    journal: Journal
    servers: Servers


@dataclass(frozen=True, slots=True)
class Opening:
    """The store that sessions come from, the person's own folders, and their word on what projects bring."""

    store: Store
    home: Home
    trust: Trust = field(default_factory=Trust)

    async def session(
        self,
        record: SessionRecord,
        config: Config,
        mode: Mode,
        agent: Callable[[], Agent],
        around: Callable[[LocalWorkspace], Workspace] = lambda local: local,
    ) -> Opened:
        """A session as it was left: a turn that a crash cut off is closed.

        Args:
            record: what is stored of it.
            config: the settings in its folder.
            mode: what may be done in it unasked.
            agent: gives what answers in it, at the moment of asking.
            around: what stands between the session and the files and commands of this machine.

        Raises:
            StoreError: the store cannot be used.
        """
        workspace = around(await asyncio.to_thread(self._local, record, config))
        journal = await self.store.journal(record.id)
        conversation = await self._conversation(record, journal, workspace, Approvals(mode, config.approvals.rules))
        desk = Desk(conversation, self.store, self.home.config, agent, self.trust)
        conversation.toolbox = AgentTools(desk)
        place = Surroundings(conversation.workspace.cwd, lambda: conversation.workspace.roots)
        return Opened(conversation, journal, Servers(place, config.mcp_servers))

    async def messages(self, session_id: str) -> list[Message]:
        """What the model sees of a session, in an order that it can be sent in.

        Raises:
            StoreError: the store cannot be used.
        """
        return repair(stored.message for stored in await self.store.messages(session_id))

    def informed(self, agent: Agent, tell: Callable[[Event], None]) -> Agent:
        """The agent with a prompt that knows what the person's folder says, and of the project's files those that are
        trusted; `tell` takes what was left out of it."""
        from hermes_acp.agent.prompt_builder import build_system_prompt

        build = partial(build_system_prompt, home=self.home.config, tell=tell, admits=self.trust.admits)
        return replace(agent, build_system=build)

    def _local(self, record: SessionRecord, config: Config) -> LocalWorkspace:
        """Files and commands of this machine, in the sandbox where the settings want it and it works.

        The person's own folders are out of reach from here on: a sandbox hides what it finds protected.
        """
        protect(self.home.config, self.home.state)
        cwd, roots = Path(record.cwd), tuple(map(Path, record.roots))
        sandbox = sandbox_for(config.sandbox, (cwd, *roots))
        if isinstance(sandbox, str):
            return LocalWorkspace(cwd, roots, why_not=sandbox)
        return LocalWorkspace(cwd, roots, sandbox)

    async def _conversation(
        self, record: SessionRecord, journal: Journal, workspace: Workspace, approvals: Approvals
    ) -> Conversation:
        messages = await self.messages(record.id)
        if closing := close_open_turn(messages):
            journal.add_message(closing)
        return Conversation(
            id=record.id,
            workspace=KeptWorkspace(workspace, journal),
            journal=journal,
            approvals=approvals,
            system=record.system_prompt,
            messages=messages,
            expenses=Expenses(record.cost),
        )
