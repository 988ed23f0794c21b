"""What comes between a prompt and its turn: the model, the plugins, the MCP servers, and what the project brings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import field

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.trust import Trust
from hermes_acp.events import Notice, StatusChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.servers import Servers
from hermes_acp.mcp_servers import McpServer
from hermes_acp.plugins.loading import LOADING
from hermes_acp.protocol.editor_host import EditorHost


@dataclass(slots=True)
class Preparation:
    """What one session waits for, asks and tells before a turn.

    `model_ready` waits until the model can be asked. `trust` is what the person has said of what projects bring.
    `notices` are shown at the start of the next prompt, when the editor is looking.
    """

    conversation: Conversation
    host: EditorHost
    servers: Servers
    trust: Trust
    model_ready: Callable[[], Awaitable[None]]
    notices: list[Notice] = field(default_factory=list)
    _placed: bool = False
    _plugins_told: bool = False
    _adopting: asyncio.Task[None] | None = None

    def use_servers(self, named: Iterable[McpServer]) -> None:
        """Start these MCP servers of the editor and the person's own, and those of the project that were agreed to
        before. Waits for none of it."""
        self.servers.use(named)
        self._adopting = asyncio.get_running_loop().create_task(self._adopt_servers())

    def show_notices(self) -> None:
        """Show what has come up since the last time."""
        for notice in self.notices:
            self.host.emit(notice)
        self.notices.clear()

    async def finish(self) -> None:
        """Have everything there that the turn needs. The servers' tools stay the same within a turn.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: the keyring gives no key.
        """
        self._tell_where_commands_run()
        await self.model_ready()
        await self._load_plugins()
        await self._settle_project()
        self.show_notices()

    async def close(self) -> None:
        """End the servers."""
        if self._adopting is not None:
            self._adopting.cancel()
        await self.servers.close()

    def _tell_where_commands_run(self) -> None:
        """Once in a session: its first status."""
        if not self._placed:
            self._placed = True
            self.host.emit(StatusChanged("sandbox", self.conversation.workspace.enclosure.told))

    async def _load_plugins(self) -> None:
        """Tell of broken ones once in a session."""
        if not self._plugins_told:
            self._plugins_told = True
            self.notices += (await asyncio.to_thread(LOADING)).notices()

    async def _settle_project(self) -> None:
        """Ask about what the project brings."""
        from hermes_acp.agent.trusting import settle_project

        if self._adopting is not None:
            await asyncio.wait([self._adopting])
        self.notices += await settle_project(self.trust, self.conversation, self.servers, self.host)

    async def _adopt_servers(self) -> None:
        from hermes_acp.agent.trusting import adopt_agreed

        await adopt_agreed(self.trust, self.conversation.workspace.cwd, self.servers)
