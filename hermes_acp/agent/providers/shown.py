"""What the person has seen of an attempt at an answer: it decides whether another may follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from hermes_acp.agent.providers.base import Delta
from hermes_acp.cards import ToolResult
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted, ToolFinished
from hermes_acp.lazy_dataclasses import dataclass

BROKEN_OFF = "The model's answer broke off before this call was complete; it was not run."


@dataclass(slots=True)
class Shown:
    """`answer`: text that is more than blank; `thoughts`; `drafts`: names of calls by id that are not closed."""

    answer: bool = False
    thoughts: bool = False
    drafts: dict[str, str] = field(default_factory=dict)

    @property
    def anything(self) -> bool:
        """Whether there is anything that another attempt would add to."""
        return self.answer or self.thoughts or bool(self.drafts)

    def note(self, delta: Delta) -> None:
        """Take a delta into account."""
        match delta:
            case TextDelta(text):
                self.answer = self.answer or bool(text.strip())
            case ReasoningDelta():
                self.thoughts = True
            case ToolDrafted(call_id, name):
                self.drafts[call_id] = name
            case ToolFinished(call_id):
                self.drafts.pop(call_id, None)

    def closing(self) -> Iterator[ToolFinished]:
        """The ends of the calls that the attempt leaves behind."""
        for call_id, name in self.drafts.items():
            yield ToolFinished(call_id, name, ToolResult(BROKEN_OFF, is_error=True))
