"""Asking a provider in a test."""

import asyncio
from contextlib import aclosing, asynccontextmanager, suppress

from hermes_acp.agent.providers.base import Reply, Request
from hermes_acp.errors import ProviderError
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user

READ_FILE = {"name": "read_file", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}
HELLO = Request("Be good.", [user("hello")], tools=[READ_FILE])


def after_call(result="the content", **message):
    """The request that follows a call of read_file and its result."""
    said = AssistantMessage(tool_calls=(ToolCall("call_1", "read_file", {"path": "a"}),), **message)
    return Request("", [user("hello"), said, ToolMessage("call_1", "read_file", result)], tools=[READ_FILE])


class Asked:
    """All that a stream gave, in order; `error` is how it ended, if it failed."""

    def __init__(self):
        self.deltas = []
        self.error = None

    def of(self, kind):
        return [delta for delta in self.deltas if isinstance(delta, kind)]

    @property
    def reply(self) -> Reply:
        assert self.error is None, self.error
        assert isinstance(self.deltas[-1], Reply)
        assert len(self.of(Reply)) == 1
        return self.deltas[-1]

    @property
    def message(self):
        return self.reply.message

    @property
    def calls(self):
        return [(call.name, dict(call.arguments)) for call in self.message.tool_calls]

    @property
    def text(self):
        return "".join(delta.text for delta in self.of(TextDelta))

    @property
    def thought(self):
        return "".join(delta.text for delta in self.of(ReasoningDelta))

    @property
    def drafted(self):
        return [(delta.call_id, delta.name) for delta in self.of(ToolDrafted)]


async def ask(provider, request=HELLO):
    """Read a whole stream, an error of the provider included."""
    asked = Asked()
    async with aclosing(provider.stream(request)) as deltas:
        try:
            async for delta in deltas:
                asked.deltas.append(delta)
        except ProviderError as error:
            asked.error = error
    return asked


@asynccontextmanager
async def serving(answer):
    """The address of a bare HTTP server on loopback that gives every connection this answer."""

    async def serve(reader, writer):
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as running:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
