"""Small questions beside a conversation, put to the models that are configured for them."""

from __future__ import annotations

import asyncio
import logging

from hermes_acp.agent.providers.answers import answer_of
from hermes_acp.agent.providers.base import Pay, Provider, Request, free
from hermes_acp.config import SideTask
from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import UserMessage, user

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AuxiliaryClient:
    """What answers the questions of one side task: `provider` is its chain, or the session's own model. `pay` counts
    what the answers cost."""

    task: SideTask
    provider: Provider
    pay: Pay = free

    async def ask(self, question: str | UserMessage, system: str = "", seconds: float | None = None) -> str:
        """The text of the answer.

        Args:
            question: what is asked; nothing else of a conversation goes with it.
            system: how the model is to answer.
            seconds: how long that may take; None: as long as the model makes progress.

        Raises:
            ProviderError: there is none, or not in time.
        """
        message = user(question) if isinstance(question, str) else question
        try:
            async with asyncio.timeout(seconds):
                reply = await answer_of(self.provider, Request(system, [message]))
        except TimeoutError:
            raise ProviderError(f"The {self.task} model has not answered in time.", kind="stalled") from None
        self.pay(reply)
        return reply.message.text

    async def try_to_ask(self, question: str | UserMessage, system: str = "", seconds: float | None = 60.0) -> str:
        """As `ask`; "" when there is no answer, which only the log tells: no turn fails by a side task."""
        try:
            return await self.ask(question, system, seconds)
        except ProviderError as error:
            log.warning("the side task %s failed: %s", self.task, error)
            return ""
