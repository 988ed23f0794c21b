"""What the model saw before a turn, also where a compaction has put the turn into a summary since."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_acp.agent.context_compressor import is_summary
from hermes_acp.agent.history import repair
from hermes_acp.agent.store.changes import PastTurn
from hermes_acp.messages import Message, UserMessage


def without_turn(messages: Sequence[Message], turn: PastTurn) -> list[Message] | None:
    """The messages without the last turn; None when it stands no longer by itself among them.

    A summary that holds any of the turn goes with it: what stood before the turn was stored before that summary was
    made, and takes its place.
    """
    if turn.prompt is None:
        return None
    start = _start(messages, turn.prompt)
    if start is not None and all(reply in messages[start:] for reply in turn.replies):
        return list(messages[:start])
    if messages and is_summary(messages[0]):
        return repair(turn.before)
    return None if start is None else list(messages[:start])


def _start(messages: Sequence[Message], prompt: UserMessage) -> int | None:
    """Where the last turn begins, if it does so with this prompt."""
    last = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], UserMessage)), None)
    return last if last is not None and messages[last] == prompt else None
