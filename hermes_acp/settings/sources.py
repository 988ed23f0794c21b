"""Settings on the command line and in the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_acp.config import API_MODES
from hermes_acp.config_keys import CHECKS, check_value
from hermes_acp.errors import ConfigError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import or_nearest

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its dotted key, its option ("" when it has none), its environment variable."""

    key: str
    flag: str
    variable: str
    help: str


OPTIONS = (
    Option("model.provider", "--provider", "HERMES_ACP_PROVIDER", "who answers: openai, openrouter, ollama, …"),
    Option("model.name", "--model", "HERMES_ACP_MODEL", "the model's name"),
    Option("model.base_url", "--base-url", "HERMES_ACP_BASE_URL", "the address of the model's API"),
    Option("model.api_mode", "--api-mode", "HERMES_ACP_API_MODE", ", ".join(API_MODES)),
    Option("model.context_window", "", "HERMES_ACP_CONTEXT_WINDOW", "how many tokens the model can hold"),
    Option("agent.auto_title", "", "HERMES_ACP_AUTO_TITLE", "whether the model names sessions: true or false"),
    Option("approvals.mode", "--mode", "HERMES_ACP_MODE", "ask, accept_edits, auto or plan, at the start of a session"),
    Option("sandbox.use", "", "HERMES_ACP_SANDBOX", "a sandbox for commands: auto or never"),
    Option("acp.announce", "--announce", "HERMES_ACP_ANNOUNCE", "status notifications: always or never"),
    Option("log.file", "--log-file", "HERMES_ACP_LOG_FILE", "where the log goes (default: standard error)"),
    Option("log.level", "--log-level", "HERMES_ACP_LOG_LEVEL", ", ".join(LEVELS)),
)
"""Every setting that does not need the file."""


def from_arguments(argv: Sequence[str]) -> dict[str, str]:
    """The settings in the arguments of `--stdio`, by dotted key; the last of two wins.

    Raises:
        ConfigError: an argument is unknown, or its value is missing.
    """
    keys = {option.flag: option.key for option in OPTIONS if option.flag}
    found: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        if word == "--stdio":
            continue
        flag, equals, value = word.partition("=")
        if flag not in keys:
            raise ConfigError(_unknown(flag, keys))
        found[keys[flag]] = value if equals else _next(words, flag)
    return found


def from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings in environment variables, by dotted key; an empty variable is none."""
    values = {option.key: environ.get(option.variable, "").strip() for option in OPTIONS}
    return {key: value for key, value in values.items() if value}


def checked(texts: Mapping[str, str], place: Callable[[Option], str]) -> dict[str, Any]:
    """The texts as the values they stand for; `place` names an option in the refusal.

    Raises:
        ConfigError: one of them is of no use: where it was found, and the reason.
    """
    options = {option.key: option for option in OPTIONS}
    return {key: _value(key, text, place(options[key])) for key, text in texts.items() if key in CHECKS}


def _value(key: str, text: str, place: str) -> Any:
    return check_value(key, _READ.get(key, str)(text), place)


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text


def _truth(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text.lower(), text)


_READ: Mapping[str, Callable[[str], Any]] = {"model.context_window": _number, "agent.auto_title": _truth}
"""How a text becomes a value that is no text; one that cannot is left for the check to refuse."""


def _next(words: Any, flag: str) -> str:
    value: str | None = next(words, None)
    if value is None or value.startswith("--"):
        raise ConfigError(f"{flag}: needs a value")
    return value


def _unknown(flag: str, known: Mapping[str, str]) -> str:
    return f"{flag}: unknown option{or_nearest(flag, known)}"
