"""The MCP servers of an editor's request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from hermes_acp import mcp_servers
from hermes_acp.protocol.params import Params, or_empty
from hermes_acp.text import shorten


class NamedValue(Params):
    """An environment variable or an HTTP header."""

    name: str
    value: str


NamedValues = Annotated[list[NamedValue], BeforeValidator(or_empty)]


class StdioServer(Params):
    """An MCP server to be started as a program."""

    name: str
    command: str
    args: Annotated[list[str], BeforeValidator(or_empty)] = Field(default_factory=list)
    env: NamedValues = Field(default_factory=list)
    type: Literal["stdio"] = "stdio"


class RemoteServer(Params):
    """An MCP server to be reached by HTTP, or by HTTP with server-sent events."""

    name: str
    url: str
    headers: NamedValues = Field(default_factory=list)
    type: Literal["http", "sse"]


def _known_type(value: Any) -> Any:
    kind = value.get("type", "stdio") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind not in _SERVER_TYPES:
        raise ValueError(f"an MCP server of type {shorten(ascii(kind), 40)} is not supported; use stdio, http or sse")
    return value


def _server_tag(value: Any) -> str | None:
    kind = value.get("type", "stdio") if isinstance(value, dict) else None
    return _SERVER_TYPES.get(kind) if isinstance(kind, str) else None


_SERVER_TYPES = {"stdio": "stdio", "http": "remote", "sse": "remote"}


Server = Annotated[
    Annotated[StdioServer, Tag("stdio")] | Annotated[RemoteServer, Tag("remote")],
    Discriminator(
        _server_tag, custom_error_type="server", custom_error_message="an MCP server must be of type stdio, http or sse"
    ),
    BeforeValidator(_known_type),
]


def named_servers(said: Sequence[Server]) -> list[mcp_servers.McpServer]:
    """The servers that an editor has named."""
    return [_named(server) for server in said]


def _named(server: Server) -> mcp_servers.McpServer:
    if isinstance(server, StdioServer):
        return mcp_servers.ProgramServer(server.name, server.command, tuple(server.args), _pairs(server.env))
    return mcp_servers.RemoteServer(server.name, server.url, server.type, _pairs(server.headers))


def _pairs(said: Sequence[NamedValue]) -> mcp_servers.Pairs:
    return tuple((each.name, each.value) for each in said)
