"""What the handlers of one connection share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from hermes_acp.agent.store.store import Store
from hermes_acp.events import Notice
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.account import Account
from hermes_acp.protocol.commands import available_commands
from hermes_acp.protocol.mcp import Server, named_servers
from hermes_acp.protocol.outbound import available_commands_update
from hermes_acp.protocol.session import Session
from hermes_acp.protocol.sessions import Sessions


@dataclass(slots=True)
class App:
    """One editor's connection: its sessions, their store, and the model account."""

    sessions: Sessions
    store: Store
    account: Account

    def announce(self, session: Session, mcp_servers: Sequence[Server]) -> None:
        """What follows the answer that told the editor of a session; nothing, if it was closed before that."""
        if self.sessions.find(session.id) is not session:
            return
        session.host.update(available_commands_update(available_commands(session.custom)))
        session.preparation.notices += self.account.notices
        if self.store.problem:
            session.preparation.notices.append(Notice("warning", "About the stored sessions", self.store.problem))
        session.preparation.groundwork.start_servers(named_servers(mcp_servers))
        session.shown.appear()
        # The answer leaves with the next turn of the loop, and this is not to hold it up.
        asyncio.get_running_loop().call_soon(self.account.warm, self.sessions.offer_models)

    async def closing(self) -> None:
        """The editor has gone: stop everything, keep everything."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.store.aclose)
            stack.push_async_callback(self.account.aclose)
            await self.sessions.close_all()
