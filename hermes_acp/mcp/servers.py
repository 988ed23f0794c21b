"""All MCP servers of one session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from hermes_acp.events import Notice
from hermes_acp.local.waiting import surely
from hermes_acp.mcp.names import Names
from hermes_acp.mcp.project import ProjectServers
from hermes_acp.mcp.server import Server, Surroundings
from hermes_acp.mcp.tools import TOOLSET, make_tool
from hermes_acp.mcp_servers import McpServer
from hermes_acp.text import visible
from hermes_acp.tools.base import Tool

JOIN_SECONDS = 5.0
"""How long a prompt waits for a server where the next one may come soon."""

MOST_TOOLS = 100
"""So many tools of servers are given to a model: some providers take no more than 128 in all."""


class Servers:
    """The servers of a session, by name; `configured` are the person's own, which the editor's go before. Those of the
    project come last. `patience`: seconds that a prompt waits, at most, for a server from its start on."""

    def __init__(self, place: Surroundings, configured: Iterable[McpServer] = ()) -> None:
        self.patience = JOIN_SECONDS
        self._place = place
        self._configured = tuple(configured)
        self._named: tuple[McpServer, ...] = ()
        self._project = ProjectServers(place.cwd)
        self._servers: dict[str, Server] = {}
        self._names = Names()
        self._tools: dict[str, list[Tool]] = {}
        self._left_out = 0
        self._told: dict[str, str] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def servers(self) -> tuple[Server, ...]:
        """Every server, in the order they were named."""
        return tuple(self._servers.values())

    @property
    def toolbox(self) -> dict[str, Tool]:
        """The tools of the servers as they were at the last `join`."""
        return {tool.name: tool for tools in self._tools.values() for tool in tools}

    def added_to(self, toolbox: Mapping[str, Tool]) -> dict[str, Tool]:
        """A session's own tools with those of the servers in place of the ones that they had."""
        return {**{name: tool for name, tool in toolbox.items() if tool.toolset != TOOLSET}, **self.toolbox}

    def tools_of(self, server: Server) -> list[Tool]:
        """Those of one server."""
        return self._tools.get(server.named.name, [])

    def use(self, named: Iterable[McpServer]) -> None:
        """Have these servers of the editor: start what is new, end what is not named any more. Waits for none of it."""
        self._named = tuple(named)
        self._start_and_end()

    def adopt(self, project: ProjectServers) -> None:
        """Have these servers of the project, which the person has agreed to as they are, in the same way. They are
        started as long as the project says the same of them."""
        self._project = project
        self._start_and_end()

    def _start_and_end(self) -> None:
        others = {server.name: server for server in (*self._configured, *self._named)}
        origins = {server.name: self._project.origin for server in self._project.servers if server.name not in others}
        wanted = {**{server.name: server for server in self._project.servers}, **others}
        for name, server in list(self._servers.items()):
            if (wanted.get(name), origins.get(name)) != (server.named, server.origin):
                self._end(self._servers.pop(name))
        for name, one in wanted.items():
            if name not in self._servers:
                self._servers[name] = Server(one, self._place, origins.get(name))
                self._servers[name].start()

    async def join(self) -> list[Notice]:
        """Bring the tools up to date; what the person should know of it, each thing once."""
        await self.refresh()
        news = [notice for server in self._servers.values() if (notice := self._news(server))]
        return news + self._too_many() + self._unused()

    async def refresh(self) -> None:
        """Wait a little for servers that are starting, start those again that have stopped, take in what tools there
        are now."""
        for server in self._servers.values():
            server.revive()
        await self._wait()
        self._take_tools()

    def tell_roots(self) -> None:
        """Tell every server that the session's folders are others now."""
        for server in self._servers.values():
            server.tell_roots()

    async def close(self) -> None:
        """End all servers, at once."""
        for server in self._servers.values():
            self._end(server)
        self._servers.clear()
        if self._closing:
            await surely(asyncio.wait(set(self._closing)))

    async def _wait(self) -> None:
        now = asyncio.get_running_loop().time()
        waits = {
            asyncio.ensure_future(server.settled()): server.began + self.patience - now
            for server in self._servers.values()
            if server.busy
        }
        if not waits:
            return
        try:
            await asyncio.wait(waits, timeout=max(0.0, *waits.values()))
        finally:
            for wait in waits:
                wait.cancel()

    def _take_tools(self) -> None:
        room = MOST_TOOLS
        self._tools, self._left_out = {}, 0
        for name, server in self._servers.items():
            tools = self._made(server)
            self._tools[name] = tools[:room]
            self._left_out += len(tools[room:])
            room -= len(self._tools[name])

    def _made(self, server: Server) -> list[Tool]:
        if server.state not in ("connected", "stopped"):
            return []
        allowed = server.named.tools
        return [
            make_tool(self._names.of(server.named.name, listed.name), server.named.name, listed, server.call)
            for listed in server.listed
            if allowed is None or listed.name in allowed
        ]

    def _news(self, server: Server) -> Notice | None:
        """What has not been said yet of a server."""
        name, shown = server.named.name, server.shown
        state = server.state if server.state in ("failed", "starting") else ""
        if self._told.get(name, "") == state:
            return None
        self._told[name] = state
        match state:
            case "failed":
                return Notice("warning", f"MCP server {shown} is not connected", server.reason)
            case "starting":
                return Notice(
                    "warning", f"MCP server {shown} is still starting", "Its tools are there once it answers."
                )
        return None

    def _too_many(self) -> list[Notice]:
        if not self._left_out or "" in self._told:
            return []
        self._told[""] = "too many"
        text = f"{self._left_out} more are left out; `tools` in config.toml chooses which of a server's are used."
        return [Notice("warning", f"Only {MOST_TOOLS} tools of MCP servers are used", text)]

    def _unused(self) -> list[Notice]:
        """Why the project's servers cannot be used, when that has not been said."""
        problem, said = self._project.problem, self._told.get(str(self._project.file), "")
        self._told[str(self._project.file)] = problem
        if problem in ("", said):
            return []
        return [Notice("warning", f"The project's {self._project.file.name} is not used", visible(problem))]

    def _end(self, server: Server) -> None:
        task = asyncio.ensure_future(server.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
