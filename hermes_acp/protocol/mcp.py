"""The MCP servers of an editor's request."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_acp.mcp_servers import McpServer, Pairs, ProgramServer, RemoteServer
from hermes_acp.protocol.inbound import NamedValue, Server, StdioServer


def named_servers(said: Sequence[Server]) -> list[McpServer]:
    """The servers that an editor has named."""
    return [_named(server) for server in said]


def _named(server: Server) -> McpServer:
    if isinstance(server, StdioServer):
        return ProgramServer(server.name, server.command, tuple(server.args), _pairs(server.env))
    return RemoteServer(server.name, server.url, server.type, _pairs(server.headers))


def _pairs(said: Sequence[NamedValue]) -> Pairs:
    return tuple((each.name, each.value) for each in said)
