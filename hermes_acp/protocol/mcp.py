"""The MCP servers of an editor's request and their tools, as a session has them."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_acp.mcp.server import Server as Connected
from hermes_acp.mcp.servers import Servers
from hermes_acp.mcp_servers import McpServer, Pairs, ProgramServer, RemoteServer
from hermes_acp.protocol.inbound import NamedValue, Server, StdioServer
from hermes_acp.text import shorten, visible


def named_servers(said: Sequence[Server]) -> list[McpServer]:
    """The servers that an editor has named."""
    return [_named(server) for server in said]


def describe_servers(servers: Servers) -> str:
    """Servers, how they are, and their tools, in Markdown."""
    if not servers.servers:
        return "There is no MCP server. Your editor can name some, or `[mcp_servers.NAME]` in config.toml."
    return "\n".join(line for server in servers.servers for line in _about(server, servers))


def _about(server: Connected, servers: Servers) -> list[str]:
    reason = f" ({_line(server.reason)})" if server.reason else ""
    tools = [f"  - `{tool.name}`: {_line(tool.description)}" for tool in servers.tools_of(server)]
    return [f"- **{_line(server.named.name)}**, {server.state}{reason}", *tools]


def _named(server: Server) -> McpServer:
    if isinstance(server, StdioServer):
        return ProgramServer(server.name, server.command, tuple(server.args), _pairs(server.env))
    return RemoteServer(server.name, server.url, server.type, _pairs(server.headers))


def _pairs(said: Sequence[NamedValue]) -> Pairs:
    return tuple((each.name, each.value) for each in said)


def _line(text: str) -> str:
    return shorten(visible(text).replace("\n", " "), 200)
