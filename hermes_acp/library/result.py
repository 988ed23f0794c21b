"""What `run_conversation` gives back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hermes_acp.agent.loop import TurnResult
from hermes_acp.agent.providers.base import Usage
from hermes_acp.lazy_dataclasses import dataclass

INTERRUPTED = "cancelled"
FAILED = "error"

_NO_USABLE_ANSWER = "The model gave no usable answer three times in a row."


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended: the reason as ACP names it ("error" for a failure), the answer, what went wrong."""

    stop: str
    text: str = ""
    error: str | None = None

    @classmethod
    def of(cls, result: TurnResult) -> Ending:
        """The ending of a turn that nothing stopped."""
        if result.stop == "partial":
            return cls("partial", "", _NO_USABLE_ANSWER)
        return cls(result.stop, result.text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An ended turn with what it took: `usage` in tokens, `cost` in US dollars (None: a price is not known).
    `messages` are the whole conversation, `session_id` is its newest segment."""

    ending: Ending
    messages: list[dict[str, Any]]
    api_calls: int
    usage: Usage
    cost: float | None
    session_id: str
    task_id: str
    model: str
    provider: str

    def as_dict(self, interrupted: bool) -> dict[str, Any]:
        """The dict of `run_conversation`; `interrupted`: whether the prompt of this call was."""
        return {
            "final_response": self.ending.text,
            "messages": self.messages,
            "completed": self.ending.stop == "end_turn",
            "interrupted": interrupted or self.ending.stop == INTERRUPTED,
            "partial": self.ending.stop in ("max_tokens", "partial"),
            "stop_reason": self.ending.stop,
            "api_calls": self.api_calls,
            "usage": {**asdict(self.usage), "cost": self.cost},
            "session_id": self.session_id,
            "task_id": self.task_id,
            "model": self.model,
            "provider": self.provider,
            "error": self.ending.error,
        }
