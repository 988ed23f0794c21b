"""What comes before a session's turns in every face: plugins, MCP servers, and what the project brings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.trust import Trust
from hermes_acp.events import Notice
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.servers import Servers
from hermes_acp.mcp_servers import McpServer
from hermes_acp.plugins.loading import LOADING


@dataclass(slots=True)
class Groundwork:
    """What one session has to have, to ask and to tell before a turn, each thing once.

    `trust` is what the person has said of what projects bring. `tell` takes what they should know.
    """

    conversation: Conversation
    servers: Servers
    trust: Trust
    tell: Callable[[Notice], object]
    _placed: bool = False
    _plugins_told: bool = False
    _adopting: asyncio.Task[None] | None = None

    def start_servers(self, named: Iterable[McpServer] = ()) -> None:
        """Start these MCP servers and the person's own, and those of the project that were agreed to before. Waits for
        none of it."""
        self.servers.use(named)
        self._adopting = asyncio.get_running_loop().create_task(self._adopt_servers())

    async def adopted(self) -> None:
        """Wait until the project's servers that were agreed to before are known."""
        if self._adopting is not None:
            await asyncio.wait([self._adopting])

    def where_commands_run(self) -> str:
        """In words, whether commands run in a sandbox; once in a session, then ""."""
        if self._placed:
            return ""
        self._placed = True
        return self.conversation.workspace.enclosure.told

    async def load_plugins(self) -> None:
        """Have the plugins there, and tell of those that cannot be used."""
        if self._plugins_told:
            return
        loaded = await asyncio.to_thread(LOADING)
        self._plugins_told = True
        for notice in loaded.notices():
            self.tell(notice)

    async def settle_project(self, host: Host) -> None:
        """Before a turn: ask about what the project brings, and take in the servers' tools, which stay the same within
        the turn.

        Raises:
            TurnCancelled: the person closed the question.
        """
        from hermes_acp.agent.trusting import settle_project

        await self.adopted()
        for notice in await settle_project(self.trust, self.conversation, self.servers, host):
            self.tell(notice)

    async def close(self) -> None:
        """End the servers."""
        if self._adopting is not None:
            self._adopting.cancel()
        await self.servers.close()

    async def _adopt_servers(self) -> None:
        from hermes_acp.agent.trusting import adopt_agreed

        await adopt_agreed(self.trust, self.conversation.workspace.cwd, self.servers)
