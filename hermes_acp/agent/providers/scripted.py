"""A provider that says what it is told to: for tests, ours and those of plugins."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

from hermes_acp.agent.providers.base import Delta, Finish, Reply, ReplyIds, Request, Usage
from hermes_acp.errors import ProviderError
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from hermes_acp.messages import AssistantMessage

Line = AssistantMessage | Reply | ProviderError | Sequence[Delta | ProviderError]
"""What one request gets: a message (streamed word by word), a reply with its finish and usage, an error, or
the very deltas, with an error where the stream is to break."""

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class Scripted:
    """Gives the replies in order, one a request; a function of the request may stand for a reply.

    Attributes:
        requests: what was asked, in order.
        closed: how many streams have ended, or were closed by their reader.
        delay: seconds before each delta.
    """

    name = "scripted"
    model = "scripted"

    def __init__(self, *replies: Line | Callable[[Request], Line], delay: float = 0.0) -> None:
        self.requests: list[Request] = []
        self.closed = 0
        self.delay = delay
        self._replies = list(replies)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The next reply of the script; see `Provider`."""
        self.requests.append(request)
        if not self._replies:
            raise ProviderError("The script has no more replies.", kind="bad_request")
        reply = self._replies.pop(0)
        try:
            for delta in _deltas(reply(request) if callable(reply) else reply):
                await asyncio.sleep(self.delay)
                if isinstance(delta, ProviderError):
                    raise delta
                yield delta
        finally:
            self.closed += 1


def _deltas(line: Line) -> Iterator[Delta | ProviderError]:
    match line:
        case ProviderError():
            yield line
        case AssistantMessage():
            finish: Finish = "tool_calls" if line.tool_calls else "stop"
            yield from _deltas(Reply(line, finish, Usage(), Scripted.model))
        case Reply(message):
            ids = ReplyIds()
            yield from (ReasoningDelta(word, ids.thought) for word in _WORDS.findall(message.reasoning))
            yield from (TextDelta(word, ids.text) for word in _WORDS.findall(message.text))
            yield from (ToolDrafted(call.id, call.name) for call in message.tool_calls)
            yield line
        case _:
            yield from line
