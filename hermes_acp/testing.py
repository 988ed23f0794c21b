"""A host for tests of whatever builds on the agent: it remembers every event and answers as told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from hermes_acp.events import Event
from hermes_acp.host import Answer, ApprovalRequest, Decision, Question

E = TypeVar("E")


class RecordingHost:
    """Remembers what it is told and asked.

    `decide` answers every approval: a decision, or a function of the request; with None no answer ever
    comes. `asked` is set when the first question arrives.
    """

    def __init__(self, decide: Decision | Callable[[ApprovalRequest], Decision] | None = "allow_once") -> None:
        self.events: list[Event] = []
        self.requests: list[ApprovalRequest] = []
        self.questions: list[Question] = []
        self.asked = asyncio.Event()
        self._decide = decide

    def emit(self, event: Event) -> None:
        self.events.append(event)

    async def ready(self) -> None:
        await asyncio.sleep(0)

    async def approve(self, request: ApprovalRequest) -> Answer:
        self.requests.append(request)
        self.asked.set()
        if self._decide is None:
            await asyncio.Event().wait()
        decision = self._decide(request) if callable(self._decide) else self._decide
        return Answer(decision or "unavailable")

    async def clarify(self, question: Question) -> str | None:
        self.questions.append(question)
        return None

    def of(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if isinstance(event, kind)]
