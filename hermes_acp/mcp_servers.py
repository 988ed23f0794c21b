"""The MCP servers that somebody has named: plain values, and the pure, strict reading of them from a config file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal
from urllib.parse import urlsplit

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import or_nearest

Pairs = tuple[tuple[str, str], ...]

CALL_SECONDS = 300.0
"""How long a call may take without a sign of life, when nothing else is said."""

MOST_SERVERS = 64


@dataclass(frozen=True, slots=True)
class ProgramServer:
    """A server that is started as a program and talks over its stdin and stdout.

    `command` is an absolute path or the name of a program on PATH; `env` comes on top of what commands inherit, and
    so do the variables named in `inherit`, which may hold keys.
    `timeout`: seconds a call may take without a sign of life. `tools`: the only ones to use; None: all.
    """

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Pairs = field(default=(), repr=False)
    inherit: tuple[str, ...] = ()
    timeout: float = CALL_SECONDS
    tools: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A server that is reached by HTTP: "http" is the streamable form, "sse" the older one.

    `headers_env` are headers whose values are in variables: pairs of a header and a variable's name.
    """

    name: str
    url: str = field(repr=False)
    kind: Literal["http", "sse"] = "http"
    headers: Pairs = field(default=(), repr=False)
    headers_env: Pairs = ()
    timeout: float = CALL_SECONDS
    tools: frozenset[str] | None = None


McpServer = ProgramServer | RemoteServer


def parse_servers(value: Any) -> tuple[McpServer, ...]:
    """The servers of a config file's table `mcp_servers`; those that are not enabled are left out.

    Raises:
        ValueError: a server or key of it is of no use; the text begins with its name.
    """
    if not isinstance(value, Mapping):
        raise ValueError("must be a table with a table for each server")
    if len(value) > MOST_SERVERS:
        raise ValueError(f"more than {MOST_SERVERS} servers")
    servers = [_server(name, table) for name, table in value.items() if _enabled(name, table)]
    return tuple(servers)


def _enabled(name: str, table: Any) -> bool:
    if not name.strip() or not name.isprintable():
        raise ValueError("a server needs a name of printable characters")
    if not isinstance(table, Mapping):
        raise ValueError(f"{name}: must be a table")
    enabled = table.get("enabled", True)
    if not isinstance(enabled, bool):
        raise ValueError(f"{name}.enabled: must be true or false")
    return enabled


def _server(name: str, table: Mapping[str, Any]) -> McpServer:
    remote = "url" in table
    checks = _SHARED | (_REMOTE if remote else _PROGRAM)
    for key in table:
        if key not in checks:
            raise ValueError(f"{name}.{key}: unknown key{or_nearest(key, checks)}")
    found = {key: _checked(name, key, value, checks[key]) for key, value in table.items()}
    found.pop("enabled", None)
    if remote:
        return RemoteServer(name, kind=found.pop("type", "http"), **found)
    if not found.get("command"):
        raise ValueError(f"{name}: needs a command to start, or a url")
    found.pop("type", None)
    return ProgramServer(name, **found)


def _checked(name: str, key: str, value: Any, check: Callable[[Any], Any]) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise ValueError(f"{name}.{key}: {error}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("must be a text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of texts")
    return tuple(map(_text, value))


def _pairs(value: Any) -> Pairs:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("must be a table of texts")
    return tuple(value.items())


def _seconds(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not (math.isfinite(value) and value >= 1):
        raise ValueError("must be a number of seconds from 1 on")
    return float(value)


def _url(value: Any) -> str:
    text = _text(value)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError("must be an http or https address without a name and password")
    return text


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be {' or '.join(choices)}")
        return str(value)

    return check


def _anything(value: Any) -> Any:
    return value


_SHARED: dict[str, Callable[[Any], Any]] = {
    "enabled": _anything,
    "timeout": _seconds,
    "tools": lambda value: frozenset(_texts(value)),
}
_PROGRAM: dict[str, Callable[[Any], Any]] = {
    "type": _one_of("stdio"),
    "command": _text,
    "args": _texts,
    "env": _pairs,
    "inherit": _texts,
}
_REMOTE: dict[str, Callable[[Any], Any]] = {
    "type": _one_of("http", "sse"),
    "url": _url,
    "headers": _pairs,
    "headers_env": _pairs,
}
