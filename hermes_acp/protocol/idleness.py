"""The history of a session that nobody uses leaves memory, and comes back from the store when it is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hermes_acp.agent.conversation import Conversation
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message


@dataclass(slots=True)
class Idleness:
    """When one session's messages are put away: `seconds` after its last turn, for 0 never.

    What the person has allowed and refused, the options and the running background processes stay as they
    are, so that nothing has to be asked again and nothing is allowed that was not.
    """

    conversation: Conversation
    recall: Callable[[], Awaitable[list[Message]]]
    seconds: float
    _timer: asyncio.TimerHandle | None = None
    _away: bool = False

    def begin(self) -> None:
        """The session is not in use from now on."""
        self.stop()
        if self.seconds and not self._away:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._put_away)

    async def end(self) -> None:
        """The session is needed: have its messages there.

        Raises:
            StoreError: they cannot be read now.
        """
        self.stop()
        if self._away:
            self.conversation.messages = await self.recall()
            self._away = False

    def stop(self) -> None:
        """Put nothing away any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _put_away(self) -> None:
        if not self.conversation.journal.settled:
            self.begin()
            return
        self.conversation.messages = []
        self.conversation.gauge.forget()
        self._away = True
