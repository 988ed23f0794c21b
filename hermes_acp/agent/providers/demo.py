"""The provider of the demo: a set of rules in the place of a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from hermes_acp.agent.providers.base import Delta, Reply, ReplyIds, Request, new_id
from hermes_acp.agent.rules.history import read_history
from hermes_acp.agent.rules.moves import Move, next_move
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from hermes_acp.messages import AssistantMessage, ToolCall

_PIECE = re.compile(r"\S+\s*|\s+")


class Demo:
    """Answers by rules that are the same every time, and says so first.

    The rules see what a model would see, the messages and the tools, and act through the same turn: each
    call is judged, asked about and shown like any other. `delay` is the time between deltas, in seconds.
    """

    name = "demo"
    model = "rules"

    def __init__(self, delay: float = 0.012) -> None:
        self._delay = delay

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """One reply, word by word."""
        move = await asyncio.to_thread(_move, request)
        ids = ReplyIds()
        for piece in _PIECE.findall(move.thought):
            yield ReasoningDelta(piece, ids.thought)
            await asyncio.sleep(self._delay)
        for piece in _PIECE.findall(move.text):
            yield TextDelta(piece, ids.text)
            await asyncio.sleep(self._delay)
        calls = tuple(ToolCall(new_id("call"), name, arguments) for name, arguments in move.calls)
        for call in calls:
            yield ToolDrafted(call.id, call.name)
        message = AssistantMessage(move.text, move.thought, calls)
        yield Reply(message, "tool_calls" if calls else "stop", model=self.model)


def _move(request: Request) -> Move:
    if request.tool_choice == "none":
        return Move("I am a set of rules, not a model, and may call no more tools in this turn.")
    tools = frozenset(str(tool.get("name")) for tool in request.tools)
    return next_move(read_history(request.messages), tools)
