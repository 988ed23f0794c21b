"""The settings of an agent: plain values, their defaults, and the pure reading of them from a mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

Mode = Literal["ask", "accept_edits", "plan"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The session modes that work, in the order shown, the default first."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The model that answers. Empty fields are found out from the others (spec: resolution)."""

    provider: str = ""
    name: str = ""
    base_url: str = ""
    api_mode: str = ""
    api_key_env: str = ""
    context_window: int = 0


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """`max_turns`: model calls a turn. `stall_timeout`: seconds a stream may stand still."""

    max_turns: int = 500
    stall_timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class ApprovalsConfig:
    """`mode` at the start of a session. `timeout`: seconds to wait for an answer, 0 for ever."""

    mode: Mode = "ask"
    timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class AcpConfig:
    """`announce`: whether status and step notifications are sent ("always" or "never")."""

    announce: Literal["always", "never"] = "always"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a config file can say."""

    model: ModelConfig = field(default_factory=ModelConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    approvals: ApprovalsConfig = field(default_factory=ApprovalsConfig)
    acp: AcpConfig = field(default_factory=AcpConfig)
