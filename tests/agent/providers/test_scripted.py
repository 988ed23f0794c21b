"""The scripted provider behaves as a real one does."""

import pytest

from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, ToolCall
from tests.support.asking import HELLO, ask


async def test_messages_are_streamed_word_by_word_in_order():
    first = AssistantMessage("  two words\n", "a thought", (ToolCall("call_1", "read_file"),))
    provider = Scripted(first, AssistantMessage("bye"))
    asked = await ask(provider)
    assert (asked.text, asked.thought, asked.message) == ("  two words\n", "a thought", first)
    assert (asked.drafted, asked.reply.finish) == ([("call_1", "read_file")], "tool_calls")
    assert (await ask(provider)).reply.finish == "stop"
    assert (provider.requests, provider.closed) == ([HELLO, HELLO], 2)


async def test_replies_errors_deltas_and_functions_are_given_as_they_are():
    reply = Reply(AssistantMessage("hi"), "length", Usage(3, 4), "m")
    error = ProviderError("busy", kind="overloaded")
    provider = Scripted(reply, error, [TextDelta("hi", "m1"), error], lambda request: AssistantMessage(request.system))
    assert (await ask(provider)).reply == reply
    assert (await ask(provider)).error is error
    broken = await ask(provider)
    assert (broken.text, broken.error) == ("hi", error)
    assert (await ask(provider)).text == HELLO.system


async def test_a_script_that_is_over_is_an_error():
    assert (await ask(Scripted())).error.kind == "bad_request"


async def test_a_stream_left_early_is_counted_as_closed():
    provider = Scripted(AssistantMessage("one two"), delay=0.001)
    stream = provider.stream(HELLO)
    await anext(stream)
    await stream.aclose()
    assert provider.closed == 1
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
