"""The APIs by the names of their modes, each imported when it is used."""

from __future__ import annotations

from typing import Any

from hermes_acp.agent.providers.api import Api
from hermes_acp.errors import ConfigError


def api_of(mode: str) -> Api[Any, Any]:
    """The API of a mode.

    Raises:
        ConfigError: there is no such mode.
    """
    match mode:
        case "chat_completions":
            from hermes_acp.agent.providers import chat_completions

            return chat_completions.API
        case "codex_responses":
            from hermes_acp.agent.providers import codex_responses

            return codex_responses.API
        case "anthropic_messages":
            from hermes_acp.agent.providers import anthropic_messages

            return anthropic_messages.API
        case other:
            raise ConfigError(f"model.api_mode: there is no API {other!r}")
