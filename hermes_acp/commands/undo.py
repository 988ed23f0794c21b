"""/undo: the last turn's files as they were, and the conversation without it, as a card and in words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from hermes_acp.agent.attached import typed
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.kept_workspace import KeptWorkspace
from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.store.changes import PastTurn
from hermes_acp.agent.store.journal import Journal
from hermes_acp.agent.taking_back import without_turn
from hermes_acp.agent.undoing import Outcome, Restoring, look_at, restore
from hermes_acp.cards import Diff, Location, ToolResult
from hermes_acp.errors import StoreError
from hermes_acp.events import ToolFinished, ToolPrepared, ToolStarted
from hermes_acp.host import ApprovalRequest, Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely
from hermes_acp.text import shorten, shorten_words, visible
from hermes_acp.tools.places import location, named

_NOTHING = "There is no turn to undo: none was made here, or all were undone. A fork undoes its own turns only."
_ELSEWHERE = "The last turn was made in another window that has this session open; undo it there."
_LONGEST_LINE = 120
_LONGEST_PROMPT = 60


@dataclass(frozen=True, slots=True)
class Undo:
    """Takes back the last turn of a session, and with each further call the one before it."""

    talk: Conversation
    journal: Journal
    workspace: KeptWorkspace

    async def run(self, host: Host) -> str:
        """Undo a turn; what was done, in Markdown.

        Raises:
            StoreError: what was kept cannot be read now.
        """
        turn = await self.journal.past_turn()
        if turn is None:
            return _NOTHING
        if not turn.known:
            return _ELSEWHERE
        files = await look_at(turn.files, self.workspace)
        if not files:
            return self._without_files(turn)
        card = _Card(RecordedHost(host, self.journal), self.workspace, files, new_id("undo"), _called(turn))
        card.show()
        outcomes: list[Outcome] = []
        try:
            if refusal := await card.refusal():
                return f"Nothing was undone. {refusal}"
            for each in files:
                outcomes.append(await restore(each, self.workspace))
        finally:
            await surely(card.end(outcomes))
        return self._report(turn, files, outcomes)

    def _without_files(self, turn: PastTurn) -> str:
        return "\n\n".join(part for part in (f"{self._take_back(turn)} It changed no files.", _commands(turn)) if part)

    def _report(self, turn: PastTurn, files: Sequence[Restoring], outcomes: Sequence[Outcome]) -> str:
        lines = [f"- {_code(named(each.file.path, self.workspace))}: {visible(each.text)}" for each in outcomes]
        lost = {each.file.path for each in files if each.standing == "lost"}
        if failed := [each for each in outcomes if not each.done and each.file.path not in lost]:
            head = (
                f"{len(failed)} of {len(outcomes)} files could not be restored, so the {_called(turn)} is not taken "
                "back yet; `/undo` tries them again."
            )
        else:
            head = self._take_back(turn)
        return "\n\n".join(part for part in (head, "\n".join(lines), _commands(turn)) if part)

    def _take_back(self, turn: PastTurn) -> str:
        """Let the model see the turn no more, and say so."""
        left = without_turn(self.talk.messages, turn)
        if left is not None:
            self.talk.go_back_to(left)
        self.journal.mark_undone(turn)
        if left is not None:
            return f"The {_called(turn)} is undone; the model does not see it any more."
        return (
            f"The {_called(turn)} is undone. It stands no longer by itself in what the model sees "
            "(it was left out already): that stays as it is."
        )


def undo_in(talk: Conversation) -> Undo | None:
    """What takes back turns of a conversation; None for one of which nothing is kept."""
    workspace, journal = talk.workspace, talk.journal
    if isinstance(workspace, KeptWorkspace) and isinstance(journal, Journal):
        return Undo(talk, journal, workspace)
    return None


@dataclass(frozen=True, slots=True)
class _Card:
    """What the person sees of the files that are restored, and the question about them, if there is one."""

    host: RecordedHost
    workspace: KeptWorkspace
    files: Sequence[Restoring]
    call_id: str
    turn: str

    def show(self) -> None:
        """Show what is to be restored."""
        self.host.emit(ToolPrepared(self.call_id, "undo", "edit", self._title, {}, self._places, self._diffs))

    async def refusal(self) -> str:
        """Ask about files that were changed since, or cannot be restored; why nothing may be done, or ""."""
        if reason := self._doubts():
            answer = await self.host.approve(self._question(reason))
            if answer.decision != "allow_once":
                return f"{reason} {answer.comment}".strip()
        self.host.emit(ToolStarted(self.call_id))
        return ""

    async def end(self, outcomes: Sequence[Outcome]) -> None:
        """Show what was done, once it is stored."""
        done = [each for each in outcomes if each.done]
        text = f"{len(done)} of {len(self.files)} files are as they were before the turn."
        paths = {each.file.path for each in done}
        diffs = tuple(
            diff
            for each in self.files
            if each.file.path in paths and each.standing != "as_before" and (diff := each.diff)
        )
        failed = len(done) < len(self.files)
        result = ToolResult(text, is_error=failed, diffs=diffs, locations=self._places)
        # What cannot be stored is told where the command ends.
        with suppress(StoreError):
            await self.host.acknowledge(ToolFinished(self.call_id, "undo", result))

    @property
    def _title(self) -> str:
        return shorten(f"Undo changes of {self._names(self.files)}", _LONGEST_LINE)

    @property
    def _places(self) -> tuple[Location, ...]:
        return tuple(location(each.file.path) for each in self.files)

    @property
    def _diffs(self) -> tuple[Diff, ...]:
        return tuple(diff for each in self.files if each.standing in ("as_left", "changed") and (diff := each.diff))

    def _doubts(self) -> str:
        changed = [each for each in self.files if each.standing == "changed"]
        lost = [each for each in self.files if each.standing == "lost"]
        parts = []
        if changed:
            parts.append(f"Changed since by somebody else, and lost if it is undone: {self._names(changed)}.")
        if lost:
            parts.append(
                "Cannot be restored: "
                + "; ".join(f"{self._names([each])} ({visible(each.reason)})" for each in lost)
                + "."
            )
        return " ".join(parts)

    def _question(self, reason: str) -> ApprovalRequest:
        return ApprovalRequest(
            call_id=self.call_id,
            tool="undo",
            title=self._title,
            kind="edit",
            effect="edit",
            reason=f"Undo what the {self.turn} changed? {reason}",
            cwd=str(self.workspace.cwd),
            diffs=self._diffs,
            locations=self._places,
        )

    def _names(self, files: Sequence[Restoring]) -> str:
        return ", ".join(named(each.file.path, self.workspace) for each in files)


def _called(turn: PastTurn) -> str:
    """The last turn in words, to follow on "the": by what the person asked for, as far as that is known."""
    said = " ".join(visible(typed(turn.prompt)).split()) if turn.prompt else ""
    return f"turn “{shorten_words(said, _LONGEST_PROMPT)}”" if said else "last turn"


def _commands(turn: PastTurn) -> str:
    if not turn.commands:
        return ""
    lines = [f"- {_code(shorten(visible(line).replace(chr(10), ' '), _LONGEST_LINE))}" for line in turn.commands]
    return "\n".join(["Commands ran in that turn. What they changed cannot be undone and stays:", "", *lines])


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
