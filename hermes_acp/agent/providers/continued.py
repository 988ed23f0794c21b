"""A provider that lets a model finish an answer that hit the output limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from hermes_acp.agent.providers.base import Delta, Layer, Reply, Request, Usage
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, user

CONTINUE = "Your answer was cut off by the output limit. Go on exactly where it stopped, without repeating anything."
CUT = (
    "The output was cut off by its limit before this reply was complete, so none of its calls was run. "
    "Send smaller pieces: fewer calls at once, and long content in several steps."
)


@dataclass(slots=True)
class _Part:
    """One of the two parts of an answer, while it is streamed."""

    message_id: str = ""
    reply: Reply | None = None

    @property
    def began(self) -> bool:
        return bool(self.message_id)


@dataclass(slots=True)
class Continued(Layer):
    """Continues once what `provider` cut at the output limit ("length").

    An answer of text is continued by a second request that carries the first part and asks for the rest;
    neither enters the conversation, and both parts make one message and one reply. In a cut reply with
    calls every call gets a `problem`, so that none runs. It goes around retries: a second part that fails
    before its first word leaves the first part, with "length".
    """

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        part = _Part()
        async with aclosing(self._part(request, part)) as deltas:
            async for delta in deltas:
                yield delta
        first = part.reply
        if first is not None and _can_go_on(first):
            async with aclosing(self._rest(request, part.message_id, first)) as deltas:
                async for delta in deltas:
                    yield delta
        elif first is not None:
            yield _stopped(first)

    async def _rest(self, request: Request, message_id: str, first: Reply) -> AsyncGenerator[Delta, None]:
        messages = [*request.messages, AssistantMessage(first.message.text, synthetic=True), user(CONTINUE)]
        part = _Part()
        try:
            async with aclosing(self._part(replace(request, messages=messages), part)) as deltas:
                async for delta in deltas:
                    yield TextDelta(delta.text, message_id) if isinstance(delta, TextDelta) else delta
        except ProviderError:
            if part.began:
                raise
        yield _stopped(_joined(first, part.reply) if part.reply else first)

    async def _part(self, request: Request, part: _Part) -> AsyncGenerator[Delta, None]:
        """The deltas of one request without its reply, which is kept in `part`."""
        async with aclosing(self.provider.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Reply):
                    part.reply = delta
                    continue
                if isinstance(delta, TextDelta):
                    part.message_id = delta.message_id
                yield delta


def _can_go_on(reply: Reply) -> bool:
    return reply.finish == "length" and bool(reply.message.text.strip()) and not reply.message.tool_calls


def _stopped(reply: Reply) -> Reply:
    """The reply with no call that could run, if it was cut."""
    if reply.finish != "length" or not reply.message.tool_calls:
        return reply
    calls = tuple(replace(call, arguments={}, problem=_problem(call.problem)) for call in reply.message.tool_calls)
    return replace(reply, message=replace(reply.message, tool_calls=calls))


def _problem(found: str) -> str:
    return f"{CUT}\n{found}" if found else CUT


def _joined(first: Reply, second: Reply) -> Reply:
    """Both parts as one reply; its usage is what the conversation takes, not what both requests cost."""
    message = replace(
        second.message,
        text=first.message.text + second.message.text,
        reasoning="\n\n".join(filter(None, (first.message.reasoning, second.message.reasoning))),
        opaque=second.message.opaque or first.message.opaque,
    )
    return replace(second, message=message, usage=_usage(first.usage, second.usage))


def _usage(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    return replace(first, output=first.output + second.output, reasoning=first.reasoning + second.reasoning)
