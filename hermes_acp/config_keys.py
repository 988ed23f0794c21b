"""The strict reading of settings from the tables of a config file: every key, and what may stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from hermes_acp.approval_rules import Rule, read_rules
from hermes_acp.config import (
    API_MODES,
    MODES,
    SIDE_TASKS,
    STRICTNESS,
    THOUGHT_LEVELS,
    AcpConfig,
    AgentConfig,
    ApprovalsConfig,
    BusyPrompt,
    CompressionConfig,
    Config,
    ContextConfig,
    CredentialsConfig,
    DelegationConfig,
    ModelConfig,
    OnAsk,
    SandboxConfig,
    TrajectoriesConfig,
)
from hermes_acp.errors import ConfigError
from hermes_acp.mcp_servers import parse_servers
from hermes_acp.text import nearest
from hermes_acp.values import (
    Checks,
    WrongInside,
    address,
    chain,
    choice,
    count,
    day,
    entries,
    is_secret,
    kind,
    shown,
    text,
    time,
    variable,
    variables,
    words,
    yes_or_no,
)


def parse_config(data: Mapping[str, Any], source: str) -> Config:
    """The settings of a config file's tables; what they leave out has its default.

    Raises:
        ConfigError: a key is unknown or its value is of no use: `source`, key and reason in one line.
    """
    return build_config(read_values(data, source))


def read_values(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The checked values of a config file's tables by dotted key ("model.name").

    Raises:
        ConfigError: as `parse_config`.
    """
    found = _dotted(data, source)
    for key in found:
        if key not in CHECKS:
            raise ConfigError(f"{source}: {shown(key)}: {_unknown(key)}")
    return {key: check_value(key, value, f"{source}: {key}") for key, value in found.items()}


def check_value(key: str, value: Any, place: str) -> Any:
    """The value of a known dotted key, in the type it has in `Config`.

    Raises:
        ConfigError: the value is of no use there; `place` says where it was found.
    """
    try:
        return CHECKS[key](value)
    except WrongInside as error:
        raise ConfigError(f"{place}{error.place}: {error}") from None
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None


def build_config(values: Mapping[str, Any]) -> Config:
    """The settings made of checked values by dotted key."""
    return Config(
        model=ModelConfig(**_table("model", values)),
        agent=AgentConfig(**_table("agent", values)),
        approvals=ApprovalsConfig(**_table("approvals", values)),
        sandbox=SandboxConfig(**_table("sandbox", values)),
        acp=AcpConfig(**_table("acp", values)),
        trajectories=TrajectoriesConfig(**_table("trajectories", values)),
        delegation=DelegationConfig(**_table("delegation", values)),
        compression=CompressionConfig(**_table("compression", values)),
        context=ContextConfig(**_table("context", values)),
        mcp_servers=values.get("mcp_servers", ()),
        credentials=CredentialsConfig(**_table("credentials", values)),
        fallback_providers=tuple(map(_model, values.get("fallback_providers", ()))),
        auxiliary={
            task: tuple(map(_model, values[f"auxiliary.{task}"]))
            for task in SIDE_TASKS
            if f"auxiliary.{task}" in values
        },
    )


def tighten(config: Config, project: Mapping[str, Any], source: str) -> Config:
    """The settings under a project's own file, which can make them stricter and nothing else.

    A value that is less strict than the person's own changes nothing.

    Raises:
        ConfigError: the file holds anything but what a project may say.
    """
    for key in _dotted(project, source):
        if key not in _PROJECT_KEYS:
            raise ConfigError(f"{source}: {shown(key)}: a project's file may only set {_PROJECT_SAYS}")
    wanted = read_values(project, source)
    rules: tuple[Rule, ...] = wanted.get("approvals.rules", ())
    if any(rule.decision == "allow" for rule in rules):
        raise ConfigError(f"{source}: approvals.rules: a project's file may only deny and ask")
    mode = max(config.approvals.mode, wanted.get("approvals.mode", config.approvals.mode), key=STRICTNESS.index)
    turns = min(config.agent.max_turns, wanted.get("agent.max_turns", config.agent.max_turns))
    approvals = replace(config.approvals, mode=mode, rules=config.approvals.rules + rules)
    return replace(config, approvals=approvals, agent=replace(config.agent, max_turns=turns))


def _model(entry: Mapping[str, Any]) -> ModelConfig:
    return ModelConfig(name=entry.get("model", ""), **{key: value for key, value in entry.items() if key != "model"})


def _table(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    prefix = name + "."
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _dotted(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The values of the tables by dotted key; some tables stay whole, as one key."""
    found: dict[str, Any] = {}
    for name, table in data.items():
        if name in CHECKS:
            found[name] = table
        elif name not in _TABLES:
            raise ConfigError(f"{source}: {shown(name)}: {_unknown(name)}")
        elif not isinstance(table, Mapping):
            raise ConfigError(f"{source}: {name}: must be a table, not {kind(table)}")
        else:
            found |= {f"{name}.{key}": value for key, value in table.items()}
    return found


def _unknown(key: str) -> str:
    """Why a key is refused. Its value is never named: it may be a secret in the wrong place."""
    if is_secret(key):
        return "keys are not kept in this file: run `hermes-acp-agent setup`, or name a variable in model.api_key_env"
    known = {**CHECKS, **dict.fromkeys(_TABLES)}
    near = nearest(key, known, 0.7) or nearest(key.split(".")[-1], _last_words())
    return f"unknown key (did you mean {_last_words().get(near, near)}?)" if near else "unknown key"


def _last_words() -> dict[str, str]:
    return {key.split(".")[-1]: key for key in CHECKS}


def _part(value: Any) -> float:
    part = time(value, "", 0.0) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    if not 0.05 <= part <= 0.95:
        raise ValueError("must be a part of the context window, from 0.05 to 0.95")
    return part


def _engine(value: Any) -> str:
    name = text(value)
    if name not in ("compressor", "whole") and not re.fullmatch(r"[\w.]+:\w+", name):
        raise ValueError('must be "compressor", "whole" or "module:Class"')
    return name


_PLACE: Checks = {
    "provider": text,
    "base_url": address,
    "api_mode": partial(choice, choices=API_MODES),
    "api_key_env": variable,
    "context_window": partial(count, least=0),
}
"""Where a model is asked, and how much it holds."""

_ENTRY: Checks = {"model": text, **_PLACE}
"""A model in a list of reserves, or of a side task."""

CHECKS: Checks = {
    "model.name": text,
    **{f"model.{key}": check for key, check in _PLACE.items()},
    "model.vision": yes_or_no,
    "model.anthropic_version": day,
    "model.max_output": partial(count, least=0),
    "agent.max_turns": partial(count, least=1),
    "agent.max_cost": partial(time, unit="US dollars", least=0.0),
    "agent.thought_level": partial(choice, choices=THOUGHT_LEVELS),
    "agent.stall_timeout": partial(time, unit="seconds", least=1.0),
    "agent.auto_title": yes_or_no,
    "agent.busy_prompt": partial(choice, choices=get_args(BusyPrompt)),
    "agent.on_ask": partial(choice, choices=get_args(OnAsk)),
    "approvals.mode": partial(choice, choices=MODES),
    "approvals.timeout": partial(time, unit="seconds", least=0.0),
    "approvals.rules": read_rules,
    "sandbox.use": partial(choice, choices=("auto", "never")),
    "sandbox.network": yes_or_no,
    "sandbox.keep": variables,
    "acp.announce": partial(choice, choices=("always", "never")),
    "trajectories.save": yes_or_no,
    "compression.threshold": _part,
    "compression.auto_threshold": _part,
    "compression.protect_last_n": partial(count, least=0),
    "context.engine": _engine,
    "mcp_servers": parse_servers,
    "acp.idle_minutes": partial(time, unit="minutes", least=0.0),
    "delegation.max_iterations": partial(count, least=1),
    "agent.fallback_cooldown": partial(time, unit="seconds", least=0.0),
    "credentials.command": words,
    "fallback_providers": partial(entries, checks=_ENTRY),
    **{f"auxiliary.{task}": partial(chain, checks=_ENTRY) for task in SIDE_TASKS},
}
"""The check of every key that works, by dotted key."""

_TABLES = frozenset(key.split(".")[0] for key in CHECKS if "." in key)
_PROJECT_KEYS = ("approvals.mode", "approvals.rules", "agent.max_turns")
_PROJECT_SAYS = "approvals.mode, approvals.rules and agent.max_turns"
