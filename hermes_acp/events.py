"""Everything the agent tells the world: a closed union of facts, none of which is ever answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from hermes_acp.cards import Diff, Location, ToolKind, ToolResult
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import UserMessage

StatusKind = Literal[
    "thinking", "calling", "executing", "retrying", "fallback", "compressing", "budget", "idle", "sandbox"
]
Severity = Literal["info", "warning", "error"]
PlanStatus = Literal["pending", "in_progress", "completed", "cancelled"]


@dataclass(frozen=True, slots=True)
class UserPrompted:
    """A prompt entered the conversation. Recorded and replayed; not sent live (the editor knows it)."""

    message: UserMessage
    message_id: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer; all pieces of one message carry the same id."""

    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thought; its message id differs from the answer's."""

    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ToolDrafted:
    """The model has named a tool; its arguments are still being written."""

    call_id: str
    name: str
    kind: ToolKind = "other"
    title: str = ""


@dataclass(frozen=True, slots=True)
class ToolPrepared:
    """The call is complete and judged: what it will do, before anyone was asked."""

    call_id: str
    name: str
    kind: ToolKind
    title: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The call runs: it needed no approval, or has it."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output so far (the whole of what is to be shown, not an addition); the latest one wins."""

    call_id: str
    text: str = ""
    terminal_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The call is over: exactly one for each call that was drafted or prepared."""

    call_id: str
    name: str
    result: ToolResult
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One task of the plan; `id` is what the model calls it by."""

    content: str
    status: PlanStatus = "pending"
    priority: Literal["high", "medium", "low"] = "medium"
    id: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The whole plan, as it is now."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class StatusChanged:
    kind: StatusKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    name: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class StepFinished:
    """One model call and its tools are done and stored."""

    api_calls: int
    max_api_calls: int
    tools: tuple[ToolOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """Tokens in the context now, the size of the window, and the cost so far in US dollars when known."""

    used: int
    size: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSwitched:
    """Another model answers from here on, because the one before failed."""

    model: str
    reason: str

    @property
    def notice(self) -> Notice:
        """The same in words."""
        return Notice("warning", f"Now answered by {self.model}", self.reason)


@dataclass(frozen=True, slots=True)
class CompactionBegun:
    """Older messages are being replaced by a summary."""

    compaction_id: str


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A compaction that was begun came to nothing; an empty `reason`: it was cancelled."""

    compaction_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """Older messages were replaced by a summary: tokens before and after, about."""

    before: int
    after: int
    summary: str = ""
    compaction_id: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know that is not part of the answer."""

    severity: Severity
    title: str
    text: str = ""


Event = (
    UserPrompted
    | TextDelta
    | ReasoningDelta
    | ToolDrafted
    | ToolPrepared
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | PlanChanged
    | StatusChanged
    | StepFinished
    | UsageChanged
    | ModelSwitched
    | CompactionBegun
    | CompactionFailed
    | ContextCompacted
    | Notice
)
