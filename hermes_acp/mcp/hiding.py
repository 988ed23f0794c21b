"""Keeps what a server was given in confidence out of texts about it."""

from __future__ import annotations

import os
import re

from hermes_acp.local.environment import SECRET_NAMES
from hermes_acp.mcp_servers import McpServer, ProgramServer

_SHORTEST = 3
_SECRET_LOOK = re.compile(r"[^\s/]{16,}")


def without_secrets(text: str, server: McpServer) -> str:
    """The text without the values that were given to the server and look like secrets; of headers, all."""
    for value in _secrets(server):
        text = text.replace(value, "***")
    return text


def _secrets(server: McpServer) -> list[str]:
    if not isinstance(server, ProgramServer):
        values = [value for _, value in server.headers] + [os.environ.get(name, "") for _, name in server.headers_env]
        words = [word for value in values for word in (value, value.split(" ")[-1])]
        return [word for word in words if len(word) >= _SHORTEST]
    pairs = [*server.env, *((name, os.environ.get(name, "")) for name in server.inherit)]
    return [value for name, value in pairs if len(value) >= _SHORTEST and _is_secret(name, value)]


def _is_secret(name: str, value: str) -> bool:
    named = SECRET_NAMES.match(name.encode("utf-8", "replace")) is not None
    return named or _SECRET_LOOK.fullmatch(value) is not None
