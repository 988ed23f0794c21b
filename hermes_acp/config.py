"""The settings of an agent: plain values, their defaults, and the pure, strict reading of them from a mapping."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, get_args
from urllib.parse import SplitResult, urlsplit

from hermes_acp.errors import ConfigError
from hermes_acp.mcp_servers import McpServer, parse_servers
from hermes_acp.text import shorten

Mode = Literal["ask", "accept_edits", "plan"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The session modes that work, in the order shown, the default first."""

STRICTNESS: tuple[Mode, ...] = ("accept_edits", "ask", "plan")
"""The modes from the one that lets most run to the one that lets least."""

BusyPrompt = Literal["queue", "interrupt"]
OnAsk = Literal["deny"]

ApiMode = Literal["chat_completions", "codex_responses", "anthropic_messages"]
API_MODES: tuple[ApiMode, ...] = get_args(ApiMode)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The model that answers. Empty fields are found out from the others.

    `vision`: whether it can see pictures; None: it is tried. `anthropic_version`: the version of the API that
    a server of Anthropic's Messages API is asked for.
    """

    provider: str = ""
    name: str = ""
    base_url: str = ""
    api_mode: str = ""
    api_key_env: str = ""
    context_window: int = 0
    vision: bool | None = None
    anthropic_version: str = ""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """`max_turns`: model calls a turn. `stall_timeout`: seconds a stream may stand still. `auto_title`:
    whether the model is asked once for a session's title. `busy_prompt`: whether a prompt that comes during a
    turn waits for it or ends it. `on_ask`: what becomes of a question when nobody is there."""

    max_turns: int = 500
    stall_timeout: float = 120.0
    auto_title: bool = True
    busy_prompt: BusyPrompt = "queue"
    on_ask: OnAsk = "deny"


@dataclass(frozen=True, slots=True)
class ApprovalsConfig:
    """`mode` at the start of a session. `timeout`: seconds to wait for an answer, 0 for ever."""

    mode: Mode = "ask"
    timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class AcpConfig:
    """`announce`: whether status and step notifications are sent ("always" or "never"). `idle_minutes`: after
    how long the history of a session that is not used leaves memory, 0 for never."""

    announce: Literal["always", "never"] = "always"
    idle_minutes: float = 30.0


@dataclass(frozen=True, slots=True)
class CompressionConfig:
    """Parts of the context window: `threshold` when a turn starts, `auto_threshold` within it and after it.
    `protect_last_n`: so many of the last messages stay as they are, if they fit."""

    threshold: float = 0.5
    auto_threshold: float = 0.85
    protect_last_n: int = 20


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """`engine`: what makes a long conversation fit: "compressor", "whole" (nothing is left out), or a context
    engine of one's own as "module:Class"."""

    engine: str = "compressor"


@dataclass(frozen=True, slots=True)
class TrajectoriesConfig:
    """`save`: whether the turns of editors' sessions are kept as trajectories in the state folder."""

    save: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a config file can say."""

    model: ModelConfig = field(default_factory=ModelConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    approvals: ApprovalsConfig = field(default_factory=ApprovalsConfig)
    acp: AcpConfig = field(default_factory=AcpConfig)
    trajectories: TrajectoriesConfig = field(default_factory=TrajectoriesConfig)
    compression: CompressionConfig = field(default_factory=CompressionConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    mcp_servers: tuple[McpServer, ...] = ()


def parse_config(data: Mapping[str, Any], source: str) -> Config:
    """The settings of a config file's tables; what they leave out has its default.

    Keys that will have a meaning later are let pass: `unsupported` names them.

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
        if key not in CHECKS and key not in _LATER:
            raise ConfigError(f"{source}: {_shown(key)}: {_unknown(key)}")
    return {key: check_value(key, value, f"{source}: {key}") for key, value in found.items() if key in CHECKS}


def check_value(key: str, value: Any, place: str) -> Any:
    """The value of a known dotted key, in the type it has in `Config`.

    Raises:
        ConfigError: the value is of no use there; `place` says where it was found.
    """
    try:
        return CHECKS[key](value)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None


def build_config(values: Mapping[str, Any]) -> Config:
    """The settings made of checked values by dotted key."""
    return Config(
        model=ModelConfig(**_table("model", values)),
        agent=AgentConfig(**_table("agent", values)),
        approvals=ApprovalsConfig(**_table("approvals", values)),
        acp=AcpConfig(**_table("acp", values)),
        trajectories=TrajectoriesConfig(**_table("trajectories", values)),
        compression=CompressionConfig(**_table("compression", values)),
        context=ContextConfig(**_table("context", values)),
        mcp_servers=values.get("mcp_servers", ()),
    )


def unsupported(data: Mapping[str, Any], source: str) -> tuple[str, ...]:
    """A line for each key that is right but has no effect in this version."""
    return tuple(
        f"{source}: {key}: not supported yet, so it has no effect" for key in _dotted(data, source) if key in _LATER
    )


def tighten(config: Config, project: Mapping[str, Any], source: str) -> Config:
    """The settings under a project's own file, which can make them stricter and nothing else.

    A value that is less strict than the person's own changes nothing.

    Raises:
        ConfigError: the file holds anything but `approvals.mode` and `agent.max_turns`.
    """
    for key in _dotted(project, source):
        if key not in _PROJECT_KEYS:
            raise ConfigError(f"{source}: {_shown(key)}: a project's file may only set {' and '.join(_PROJECT_KEYS)}")
    wanted = read_values(project, source)
    mode = max(config.approvals.mode, wanted.get("approvals.mode", config.approvals.mode), key=STRICTNESS.index)
    turns = min(config.agent.max_turns, wanted.get("agent.max_turns", config.agent.max_turns))
    return replace(config, approvals=replace(config.approvals, mode=mode), agent=replace(config.agent, max_turns=turns))


def parse_url(url: str) -> SplitResult:
    """A base URL taken apart.

    Raises:
        ValueError: it is not a usable http or https address, or holds a name and password.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("must be an http or https address, such as https://api.openai.com/v1")
    if "@" in parts.netloc:
        raise ValueError("must not hold a name or password")
    if parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise ValueError("must be a plain address without spaces, ? and #")
    return parts


def _table(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    prefix = name + "."
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _dotted(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The values of the tables by dotted key; some tables stay whole, as one key."""
    found: dict[str, Any] = {}
    for name, table in data.items():
        if name in _LATER or name in CHECKS:
            found[name] = table
        elif name not in _TABLES:
            raise ConfigError(f"{source}: {_shown(name)}: {_unknown(name)}")
        elif not isinstance(table, Mapping):
            raise ConfigError(f"{source}: {name}: must be a table, not {_kind(table)}")
        else:
            found |= {f"{name}.{key}": value for key, value in table.items()}
    return found


def _unknown(key: str) -> str:
    """Why a key is refused. Its value is never named: it may be a secret in the wrong place."""
    if re.search(r"key|token|secret|password", key) and "key_env" not in key:
        return "keys are not kept in this file: run `hermes-acp-agent setup`, or name a variable in model.api_key_env"
    known = {**CHECKS, **dict.fromkeys(_LATER), **dict.fromkeys(_TABLES)}
    near = get_close_matches(key, known, n=1, cutoff=0.7) or get_close_matches(key.split(".")[-1], _last_words(), n=1)
    return f"unknown key (did you mean {_last_words().get(near[0], near[0])}?)" if near else "unknown key"


def _shown(key: str) -> str:
    return shorten(key if key.isprintable() else ascii(key), 80)


def _last_words() -> dict[str, str]:
    return {key.split(".")[-1]: key for key in (*CHECKS, *_LATER)}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {_kind(value)}")
    if not value.isprintable():
        raise ValueError("must be one line of printable characters")
    return value.strip()


def _address(value: Any) -> str:
    text = _text(value)
    if text:
        parse_url(text)
    return text.rstrip("/")


def _variable(value: Any) -> str:
    text = _text(value)
    if text and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ValueError("must be the name of an environment variable, not the key itself")
    return text


def _date(value: Any) -> str:
    """A date, which TOML may have read as one."""
    text = value.isoformat() if isinstance(value, date) else _text(value)
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("must be a date, such as 2023-06-01")
    return text


def _choice(value: Any, choices: tuple[str, ...]) -> str:
    text = _text(value)
    if text not in choices:
        near = get_close_matches(text, choices, n=1)
        raise ValueError(f"must be {_either(choices)}" + (f" (did you mean {near[0]}?)" if near else ""))
    return text


def _mode(value: Any) -> str:
    if value == "auto":
        raise ValueError(f"auto needs the sandbox, which is not supported yet; use {_either(MODES)}")
    return _choice(value, MODES)


def _on_ask(value: Any) -> str:
    if value == "allow-in-sandbox":
        raise ValueError("allow-in-sandbox needs the sandbox, which is not supported yet; use deny")
    return _choice(value, get_args(OnAsk))


def _count(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"must be a whole number, not {_kind(value)}")
    if not least <= value < 2**31:
        raise ValueError(f"must be at least {least}" if value < least else "is too large")
    return value


def _time(value: Any, unit: str, least: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"must be a number of {unit}, not {_kind(value)}")
    if not (math.isfinite(value) and least <= value <= 10**9):
        raise ValueError(f"must be a number of {unit} from {least:g} on")
    return float(value)


def _part(value: Any) -> float:
    part = _time(value, "", 0.0) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    if not 0.05 <= part <= 0.95:
        raise ValueError("must be a part of the context window, from 0.05 to 0.95")
    return part


def _engine(value: Any) -> str:
    text = _text(value)
    if text not in ("compressor", "whole") and not re.fullmatch(r"[\w.]+:\w+", text):
        raise ValueError('must be "compressor", "whole" or "module:Class"')
    return text


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_kind(value)}")
    return value


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case Mapping():
            return "a table"
        case list():
            return "a list"
        case _:
            return "a date or time"


CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "model.provider": _text,
    "model.name": _text,
    "model.base_url": _address,
    "model.api_mode": partial(_choice, choices=API_MODES),
    "model.api_key_env": _variable,
    "model.context_window": partial(_count, least=0),
    "model.vision": _yes_or_no,
    "model.anthropic_version": _date,
    "agent.max_turns": partial(_count, least=1),
    "agent.stall_timeout": partial(_time, unit="seconds", least=1.0),
    "agent.auto_title": _yes_or_no,
    "agent.busy_prompt": partial(_choice, choices=get_args(BusyPrompt)),
    "agent.on_ask": _on_ask,
    "approvals.mode": _mode,
    "approvals.timeout": partial(_time, unit="seconds", least=0.0),
    "acp.announce": partial(_choice, choices=("always", "never")),
    "trajectories.save": _yes_or_no,
    "compression.threshold": _part,
    "compression.auto_threshold": _part,
    "compression.protect_last_n": partial(_count, least=0),
    "context.engine": _engine,
    "acp.idle_minutes": partial(_time, unit="minutes", least=0.0),
    "mcp_servers": parse_servers,
}
"""The check of every key that works, by dotted key."""

_LATER = frozenset(
    {
        "agent.max_cost",
        "approvals.rules",
        "auxiliary",
        "credentials",
        "delegation",
        "fallback_providers",
    }
)
_TABLES = frozenset(key.split(".")[0] for key in CHECKS)
_PROJECT_KEYS = ("approvals.mode", "agent.max_turns")
