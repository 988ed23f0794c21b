"""The settings of an agent: plain values and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, get_args

from hermes_acp.approval_rules import Rule
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp_servers import McpServer

Mode = Literal["ask", "accept_edits", "auto", "plan"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The session modes, in the order shown, the default first. `auto` is there only where a sandbox works."""

STRICTNESS: tuple[Mode, ...] = ("auto", "accept_edits", "ask", "plan")
"""The modes from the one that lets most run to the one that lets least."""

BusyPrompt = Literal["queue", "interrupt"]
OnAsk = Literal["deny", "allow-in-sandbox"]

ThoughtLevel = Literal["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
THOUGHT_LEVELS: tuple[ThoughtLevel, ...] = get_args(ThoughtLevel)
"""How much a model is to think: as much as it does by itself, then from not at all to as much as it can."""

ApiMode = Literal["chat_completions", "codex_responses", "anthropic_messages"]
API_MODES: tuple[ApiMode, ...] = get_args(ApiMode)

SideTask = Literal["vision", "compression", "web_extract", "title"]
SIDE_TASKS: tuple[SideTask, ...] = get_args(SideTask)
"""The small questions beside a conversation that may have models of their own."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The model that answers. Empty fields are found out from the others.

    `vision`: whether it can see pictures; None: it is tried. `anthropic_version`: the version of the API that
    a server of Anthropic's Messages API is asked for; `max_output`: the tokens that its answers may have, 0 for
    what the model's name tells.
    """

    provider: str = ""
    name: str = ""
    base_url: str = ""
    api_mode: str = ""
    api_key_env: str = ""
    context_window: int = 0
    vision: bool | None = None
    anthropic_version: str = ""
    max_output: int = 0


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """`max_turns`: model calls a turn. `stall_timeout`: seconds a stream may stand still. `auto_title`:
    whether the model is asked once for a session's title. `busy_prompt`: whether a prompt that comes during a
    turn waits for it or ends it; None: as is usual where it comes from. `on_ask`: what becomes of a question when
    nobody is there. `fallback_cooldown`: seconds for which a model that failed is left alone, where there is a
    reserve. `max_cost`: US dollars that a turn may cost, 0 for no limit. `thought_level`: how much the
    model is to think in sessions for which nothing else was chosen; None: it was not said."""

    max_turns: int = 500
    stall_timeout: float = 120.0
    auto_title: bool = True
    busy_prompt: BusyPrompt | None = None
    on_ask: OnAsk = "deny"
    fallback_cooldown: float = 60.0
    max_cost: float = 0.0
    thought_level: ThoughtLevel | None = None


@dataclass(frozen=True, slots=True)
class ApprovalsConfig:
    """`mode` at the start of a session. `timeout`: seconds to wait for an answer, 0 for ever. `rules`: what may
    take effect unasked, is asked about in any case, or is refused."""

    mode: Mode = "ask"
    timeout: float = 0.0
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """`use`: whether commands run in a sandbox where one works. `network`: whether they have the network in it.
    `keep`: environment variables that they inherit beside the usual ones."""

    use: Literal["auto", "never"] = "auto"
    network: bool = False
    keep: tuple[str, ...] = ()


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
class DelegationConfig:
    """`max_iterations`: model calls that each subagent may make."""

    max_iterations: int = 50


@dataclass(frozen=True, slots=True)
class TrajectoriesConfig:
    """`save`: whether the turns of sessions are kept as trajectories in the state folder."""

    save: bool = False


@dataclass(frozen=True, slots=True)
class CredentialsConfig:
    """`command`: the program, with its arguments, that writes the key of the configured model; () for none."""

    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a config file can say.

    `fallback_providers` are the reserves of the model, in order; `auxiliary` the models of each side task that
    has some of its own, the one to be asked first before its reserves.
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    approvals: ApprovalsConfig = field(default_factory=ApprovalsConfig)
    acp: AcpConfig = field(default_factory=AcpConfig)
    trajectories: TrajectoriesConfig = field(default_factory=TrajectoriesConfig)
    delegation: DelegationConfig = field(default_factory=DelegationConfig)
    compression: CompressionConfig = field(default_factory=CompressionConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    mcp_servers: tuple[McpServer, ...] = ()
    credentials: CredentialsConfig = field(default_factory=CredentialsConfig)
    fallback_providers: tuple[ModelConfig, ...] = ()
    auxiliary: Mapping[SideTask, tuple[ModelConfig, ...]] = field(default_factory=dict)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)

    @property
    def key_variables(self) -> frozenset[str]:
        """The environment variables that are named as holding a key."""
        chains = (self.model, *self.fallback_providers, *(one for chain in self.auxiliary.values() for one in chain))
        return frozenset(one.api_key_env for one in chains if one.api_key_env)
