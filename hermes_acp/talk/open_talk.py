"""A session without an editor that is open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import TurnResult, keep_prompt, run_turn
from hermes_acp.agent.saved_turns import SavedTurns
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.titles import first_title
from hermes_acp.groundwork import Groundwork
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import unless_whole
from hermes_acp.messages import UserMessage
from hermes_acp.talk.answering import Answering
from hermes_acp.talk.setup import Setup


@dataclass(slots=True)
class OpenTalk:
    """What was stored of a session, what is talked about in it, what answers, and what comes before its turns."""

    setup: Setup
    record: SessionRecord
    answering: Answering
    conversation: Conversation
    groundwork: Groundwork
    _titled: bool = False

    @property
    def stored_options(self) -> dict[str, str]:
        """The session's options as they were stored, without those that were given anew."""
        return self.setup.not_given(self.record.options)

    @property
    def approval_timeout(self) -> float:
        """Seconds that an answer is waited for, 0 for ever."""
        return self.answering.terms.config.approvals.timeout

    def _begin_title(self, prompt: str) -> None:
        """Call the session by the first words of its first prompt, as long as it has no title."""
        title = first_title(prompt)
        if self._titled or self.record.title or not title:
            return
        self._titled = True
        self.conversation.journal.update(title=title)

    async def prepare(self, prompt: UserMessage, host: Host, typed: UserMessage | None = None) -> None:
        """Have there what the turn of a prompt needs. The prompt is kept also if that fails or is cancelled. The
        arguments are those of `run_turn`.

        Raises:
            TurnCancelled: the person closed the question about what the project brings.
        """
        self._begin_title((typed or prompt).text)
        async with unless_whole(lambda: keep_prompt(self.conversation, prompt, host, typed)):
            await self.groundwork.settle_project(host)

    def runner(self, model: str) -> Callable[..., Awaitable[TurnResult]]:
        """What runs a turn and, where trajectories are kept, keeps that of this model."""
        folder = self.setup.trajectories(self.answering.terms.config)
        return run_turn if folder is None else SavedTurns(folder, model).run
