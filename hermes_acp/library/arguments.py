"""The arguments of `AIAgent`, and the settings that they and the person's own files make."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict

from hermes_acp.config_keys import CHECKS, check_value
from hermes_acp.errors import ConfigError
from hermes_acp.library.callbacks import Callbacks
from hermes_acp.local import confidential
from hermes_acp.settings import Settings, load_settings
from hermes_acp.settings.endpoint import ANY_KEY
from hermes_acp.talk.setup import Setup
from hermes_acp.text import or_nearest


class Arguments(TypedDict, total=False):
    """What `AIAgent` takes, all of it optional. What is not given, or None, comes from the environment and the
    person's config file, as for every other face.

    `cwd` is the folder that the agent works in (default: this process's). `session_id` names a stored session to go
    on with. `save_trajectories`: whether each turn is appended to a file in this process's working folder, whatever
    the settings say of those that are kept in the state folder.
    `approval_timeout`: seconds that an answer is waited for, 0 for ever.
    """

    model: str | None
    provider: str | None
    base_url: str | None
    api_key: str | None
    api_mode: Literal["chat_completions", "codex_responses", "anthropic_messages"] | None
    context_window: int | None
    vision: bool | None
    max_turns: int | None
    max_cost: float | None
    thought_level: Literal["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"] | None
    stall_timeout: float | None
    fallback_cooldown: float | None
    mode: Literal["ask", "accept_edits", "auto", "plan"] | None
    approval_timeout: float | None
    on_ask: Literal["deny", "allow-in-sandbox"] | None
    busy_prompt: Literal["queue", "interrupt"] | None
    cwd: str | os.PathLike[str] | None
    session_id: str | None
    save_trajectories: bool | None
    tool_progress_callback: Any
    thinking_callback: Any
    reasoning_callback: Any
    clarify_callback: Any
    step_callback: Any
    stream_delta_callback: Any
    tool_gen_callback: Any
    status_callback: Any
    approval_callback: Any


SETTINGS: Mapping[str, str] = {
    **{key.removeprefix("agent."): key for key in CHECKS if key.startswith("agent.")},
    "model": "model.name",
    "provider": "model.provider",
    "base_url": "model.base_url",
    "api_mode": "model.api_mode",
    "context_window": "model.context_window",
    "vision": "model.vision",
    "mode": "approvals.mode",
    "approval_timeout": "approvals.timeout",
}
"""The arguments that are settings, by their dotted keys; every setting of the table `agent` is one."""

_CALLBACKS = tuple(field.name for field in fields(Callbacks))
_OWN = ("api_key", "cwd", "session_id", "save_trajectories")


def read_arguments(arguments: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[Setup, Callbacks]:
    """What these arguments of `AIAgent` ask for, and the functions among them.

    Raises:
        TypeError: one is unknown or has a wrong type.
        ConfigError: one has a value of no use, or the person's settings are wrong: where, and why.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    _refuse_unknown(given)
    callbacks = Callbacks(**{name: _function(name, given[name]) for name in _CALLBACKS if name in given})
    setup = Setup(
        settings=_settings(given, environ),
        cwd=_folder(given["cwd"]) if "cwd" in given else None,
        session_id=_of_type(given, "session_id", str, None),
        save_trajectories=_of_type(given, "save_trajectories", bool, None),
        given=frozenset(key for name, key in SETTINGS.items() if name in given),
        has_key="api_key" in given,
    )
    return setup, callbacks


def _settings(given: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    values = {SETTINGS[name]: check_value(SETTINGS[name], given[name], name) for name in SETTINGS if name in given}
    key = _of_type(given, "api_key", str, "").strip()
    if not key:
        return load_settings({}, environ, values)
    confidential.keep(key)
    settings = load_settings({}, {**environ, ANY_KEY: key}, values)
    if not (settings.config.model.provider or settings.config.model.base_url):
        raise ConfigError("api_key: nothing says whose key it is: give provider or base_url too")
    return settings


def _refuse_unknown(given: Mapping[str, Any]) -> None:
    known = {*SETTINGS, *_CALLBACKS, *_OWN}
    for name in given:
        if name not in known:
            raise TypeError(f"AIAgent() has no argument {name!r}{or_nearest(name, known)}")


def _of_type(given: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = given.get(name, default)
    if name in given and not isinstance(value, kind):
        raise TypeError(f"{name}: must be {kind.__name__}, not {type(value).__name__}")
    return value


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"{name}: must be a function, not {type(value).__name__}")
    return value


def _folder(value: Any) -> Path:
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"cwd: must be a path, not {type(value).__name__}")
    folder = Path(value).absolute()
    if not folder.is_dir():
        raise ConfigError(f"cwd: {folder} is no folder")
    return folder
