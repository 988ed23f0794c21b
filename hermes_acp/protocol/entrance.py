"""Makes a session of the store one that an editor can work in."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hermes_acp.agent.custom_commands import find_custom_commands
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.trust import Trust
from hermes_acp.commands.options import Options
from hermes_acp.config import Config
from hermes_acp.events import Notice
from hermes_acp.groundwork import Groundwork
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.opening import Opened, Opening
from hermes_acp.protocol.account import Account
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.editor_files import EditorFiles
from hermes_acp.protocol.editor_host import EditorHost, Manner
from hermes_acp.protocol.editor_terminals import EditorTerminals
from hermes_acp.protocol.editor_workspace import EditorWorkspace
from hermes_acp.protocol.idleness import Idleness
from hermes_acp.protocol.inbound import Place
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.preparation import Preparation
from hermes_acp.protocol.session import Session
from hermes_acp.protocol.shown_options import ShownOptions
from hermes_acp.protocol.title import Title
from hermes_acp.workspace import Workspace

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent


@dataclass(frozen=True, slots=True)
class Entrance:
    """What the sessions of a connection are made of. `client` is what the editor on the other side of `peer` can do."""

    store: Store
    account: Account
    peer: Peer
    client: ClientCapabilities

    async def enter(self, record: SessionRecord, place: Place, config: Config, options: Options) -> Session:
        """The session, as it was left.

        Args:
            record: what is stored of it.
            place: its folders, of which the further ones may be others than those stored.
            config: the settings in them.
            options: what was chosen in it.

        Raises:
            StoreError: the store cannot be used.
        """
        home = self.account.home
        host = EditorHost(record.id, self.peer, self._manner(config))
        opening = Opening(self.store, home, Trust(home.trust_file))
        agent = partial(self._agent, config, host, opening)
        opened = await opening.session(
            replace(record, roots=tuple(map(str, place.roots))),
            config,
            options.mode,
            lambda: agent(options.model),
            partial(self._workspace, record.id),
        )
        conversation = opened.conversation
        return Session(
            conversation,
            opened.journal,
            ShownOptions(options, conversation, host),
            host,
            agent,
            self._preparation(opened, opening.trust, host),
            Idleness(conversation, partial(opening.messages, record.id), 60 * config.acp.idle_minutes),
            Title(record.title, conversation.journal, host),
            trajectories=self.account.trajectories(config),
            impatient=config.agent.busy_prompt == "interrupt",
            home=home.config,
            custom=await asyncio.to_thread(find_custom_commands, home.config),
        )

    def _manner(self, config: Config) -> Manner:
        return Manner(self.client, config.acp.announce == "always", config.approvals.timeout)

    def _preparation(self, opened: Opened, trust: Trust, host: EditorHost) -> Preparation:
        notices: list[Notice] = []
        groundwork = Groundwork(opened.conversation, opened.servers, trust, notices.append)
        return Preparation(groundwork, host, self.account.ready, notices)

    def _workspace(self, session_id: str, local: LocalWorkspace) -> Workspace:
        client, files = self.client, EditorFiles(self.peer, session_id)
        if not (client.read_files or client.write_files or client.terminals):
            return local
        return EditorWorkspace(
            local,
            reading=files if client.read_files else None,
            writing=files if client.write_files else None,
            terminals=EditorTerminals(self.peer, session_id) if client.terminals else None,
        )

    def _agent(self, config: Config, host: EditorHost, opening: Opening, model: str) -> Agent:
        return opening.informed(self.account.agent(model, config), host.emit)
