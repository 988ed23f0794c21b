"""The answer to `initialize`: a constant, plus what depends on the client's own flags."""

from __future__ import annotations

import sys

from hermes_acp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL_VERSION = 1
"""The only version spoken: an editor that asks for another is answered with this one (ACP: initialization)."""

AGENT_METHOD = "credentials"
"""The authentication method that looks again for keys in the environment and for local model servers."""

SETUP_METHOD = "setup"
"""The authentication method that an editor runs in a terminal of its own."""


def answer(params: dict[str, Any]) -> dict[str, Any]:
    """The result of `initialize` for these params. Needs nothing but them: no files, no network."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": {"name": "hermes-acp", "title": "Hermes", "version": __version__},
        "agentCapabilities": _capabilities(),
        "authMethods": _auth_methods(params),
    }


def client_capabilities(params: dict[str, Any]) -> dict[str, Any]:
    """What the client says it offers; `capabilities` is the name that newer clients use."""
    for name in ("clientCapabilities", "capabilities"):
        value = params.get(name)
        if isinstance(value, dict):
            return value
    return {}


def _has_terminal_login(capabilities: dict[str, Any]) -> bool:
    """Whether the client can run a login in a terminal: `true` in version 1, an object in newer ones."""
    auth = capabilities.get("auth")
    terminal = auth.get("terminal") if isinstance(auth, dict) else None
    return terminal is True or isinstance(terminal, dict)


def _capabilities() -> dict[str, Any]:
    return {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {
            "list": {},
            "resume": {},
            "close": {},
            "delete": {},
            "fork": {},
            "additionalDirectories": {},
        },
        "auth": {"logout": {}},
        "_meta": {"hermes": {"status": "_hermes/status", "step": "_hermes/step"}},
    }


def _auth_methods(params: dict[str, Any]) -> list[dict[str, Any]]:
    credentials = {
        "id": AGENT_METHOD,
        "name": "Use my keys or a local model",
        "description": "Looks again for API keys in the environment and for a model server on this machine.",
    }
    capabilities = client_capabilities(params)
    if not _has_terminal_login(capabilities):
        return [credentials]
    return [credentials, _setup_method(capabilities)]


def _setup_method(capabilities: dict[str, Any]) -> dict[str, Any]:
    method: dict[str, Any] = {
        "id": SETUP_METHOD,
        "type": "terminal",
        "name": "Set up in a terminal",
        "description": "Asks for a provider and a key, and stores the key where only you can read it.",
        "args": ["setup"],
    }
    meta = capabilities.get("_meta")
    if isinstance(meta, dict) and meta.get("terminal-auth") is True and sys.executable:
        method["_meta"] = {"terminal-auth": _older_login()}
    return method


def _older_login() -> dict[str, Any]:
    """The login as editors read it that know only `_meta["terminal-auth"]`: a whole command, made of this
    interpreter rather than of the name that the program was started under."""
    return {"label": "hermes-acp setup", "command": sys.executable, "args": ["-m", "hermes_acp", "setup"]}
