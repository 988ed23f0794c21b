"""The seam where a conversation is made to fit the model's window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from hermes_acp.errors import HermesError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message

Moment = Literal["turn_start", "before_call", "turn_end"]
"""When the loop asks whether the context is to be compacted (spec: agent loop, section 6)."""


class ContextTooLarge(HermesError):
    """Nothing can be left out any more, and what is left does not fit; the text says what is so large."""


@dataclass(frozen=True, slots=True)
class Context:
    """A conversation that is to become smaller.

    `messages` are in valid role order, and end with a user's message or with what follows on one. `around` is
    what the system prompt and the tools take beside them, and `window` all that there is, in tokens; `count`
    tells the tokens of messages. `ask` puts a question to the model that summarises and may raise
    `ProviderError`. `focus` is what the person wants to be kept.
    """

    messages: Sequence[Message]
    around: int
    window: int
    count: Callable[[Sequence[Message]], int]
    ask: Callable[[str], Awaitable[str]]
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The messages that take the place of the others, and the summary among them ("" when there is none)."""

    messages: tuple[Message, ...]
    summary: str = ""


class ContextEngine(ABC):
    """Decides when a conversation is compacted, and how.

    An engine of one's own is a class of no arguments, named in `context.engine` as "module:Class".
    """

    @abstractmethod
    def is_due(self, used: int, window: int, moment: Moment) -> bool:
        """Whether a context that takes `used` tokens of `window` is to be compacted at this moment."""

    @abstractmethod
    async def compact(self, context: Context) -> Compaction | None:
        """Smaller messages in valid role order that end as the others did; None when there is nothing to leave out.

        A call is never parted from its result, and the last user's message stays.

        Raises:
            ContextTooLarge: what has to stay does not fit.
            ProviderError: the model did not summarise; nothing has changed.
        """


class WholeHistory(ContextEngine):
    """Never leaves anything out."""

    def is_due(self, used: int, window: int, moment: Moment) -> bool:
        return False

    async def compact(self, context: Context) -> Compaction | None:
        return None
