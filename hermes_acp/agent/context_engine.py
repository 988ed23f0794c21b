"""The seam where a conversation is made to fit the model's window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hermes_acp.agent.history import repair
from hermes_acp.messages import Message


class ContextEngine(Protocol):
    """Decides what of a conversation the next request carries."""

    async def fit(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages for the next request, in valid role order."""


class WholeHistory:
    """Sends everything, repaired: no history can brick a session."""

    async def fit(self, messages: Sequence[Message]) -> Sequence[Message]:
        return repair(messages)
