"""What the agent may say to, and ask of, whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from hermes_acp.cards import Diff, Effect, Location, ToolKind
from hermes_acp.events import Event
from hermes_acp.lazy_dataclasses import dataclass

Decision = Literal["allow_once", "allow_always", "reject_once", "reject_always", "cancelled", "unavailable"]
"""The four choices of ACP; "cancelled" ends the turn; "unavailable": nobody could be asked."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question before something takes effect: exactly what will be done, and why it is asked.

    `command` is the text to be run ("" when nothing is run), `cwd` the folder it runs in, `diffs` the edits to be
    made; `contained`: it runs in a sandbox without the network; `arguments` what the model wrote; `always` says in
    words what an "always" answer would cover ("": there is no such answer).
    """

    call_id: str
    tool: str
    title: str
    kind: ToolKind
    effect: Effect
    reason: str
    cwd: str
    command: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    always: str = ""
    contained: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's answer; `comment` says why, or why nobody could be asked."""

    decision: Decision
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the model to the person, with choices or open."""

    call_id: str
    text: str
    choices: tuple[str, ...] = ()


class Host(Protocol):
    """Where a turn happens: an editor, a terminal, a script's callbacks, a test."""

    def emit(self, event: Event) -> None:
        """Take note of a fact. Never blocks and never raises."""

    async def ready(self) -> None:
        """Wait until the reader keeps up. Awaited between batches of deltas; text is never dropped."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Ask the person for permission. Returns "unavailable" rather than raising."""

    async def clarify(self, question: Question) -> str | None:
        """Ask the person a question; None when it was not answered, or nobody is here who could.

        Raises:
            TurnCancelled: the person ended the turn instead.
        """


class Nobody:
    """The host of work that nobody watches: what is told is let go, and every question stays unanswered."""

    def emit(self, event: Event) -> None:
        """Let the fact go."""

    async def ready(self) -> None:
        """Nobody reads, so nobody is slow."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        return Answer("unavailable", "Nobody is present to be asked.")

    async def clarify(self, question: Question) -> str | None:
        return None
