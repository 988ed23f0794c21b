"""An answer that hits the output limit is finished; a call that does is not run."""

import pytest

from hermes_acp.agent.providers.base import Reply, Request, Usage
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.retry import Backoff, Retrying
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, ToolCall
from tests.fakes.model_server import Call, Say, Status
from tests.support.asking import HELLO, after_call, ask


def cut(*text, **message):
    return Reply(AssistantMessage(*text, **message), "length", Usage(10, 5))


async def test_both_parts_are_one_message_and_the_server_finds_the_request_in_order(server, provider):
    server.say(Say("one two ", finish="length"), Say("three", reasoning="hm"))
    request = after_call()
    asked = await ask(Continued(provider), request)
    assert asked.text == asked.message.text == "one two three"
    assert len({delta.message_id for delta in asked.of(TextDelta)}) == 1
    assert (asked.reply.finish, server.problems) == ("stop", [])
    *before, said, go_on = server.requests[1].messages
    assert before == server.requests[0].messages
    assert said == {"role": "assistant", "content": "one two "}
    assert go_on["role"] == "user"
    assert len(request.messages) == 3


async def test_an_answer_that_is_cut_again_stays_cut():
    asked = await ask(Continued(Scripted(cut("one "), cut("two "))))
    assert (asked.message.text, asked.reply.finish) == ("one two ", "length")
    assert asked.reply.usage == Usage(10, 10)


async def test_notes_go_with_both_requests():
    script = Scripted(cut("one "), AssistantMessage("two"))
    await ask(Continued(script), Request("", HELLO.messages, notes=("Hurry.",)))
    assert [request.notes for request in script.requests] == [("Hurry.",)] * 2


@pytest.mark.parametrize("reply", [AssistantMessage("whole"), cut("", "thoughts only"), cut(" \n")])
async def test_nothing_is_asked_again_when_there_is_nothing_to_go_on_with(reply):
    script = Scripted(reply)
    asked = await ask(Continued(script))
    assert asked.reply.message == getattr(reply, "message", reply)
    assert len(script.requests) == 1


async def test_no_call_of_a_cut_reply_can_run(server, provider):
    server.say(
        Say(
            "I write.",
            [Call("read_file", {"path": "a"}), Call("write_file", '{"path":"README.md","content":"Part 1')],
            finish="length",
        )
    )
    asked = await ask(Continued(provider))
    assert len(server.requests) == 1
    assert asked.calls == [("read_file", {}), ("write_file", {})]
    assert all("smaller pieces" in call.problem for call in asked.message.tool_calls)
    assert "README.md" in asked.message.tool_calls[1].problem


async def test_a_second_part_may_call_and_its_cut_calls_cannot_run():
    call = ToolCall("call_1", "read_file", {"path": "a"})
    whole = await ask(Continued(Scripted(cut("one "), AssistantMessage("two", tool_calls=(call,)))))
    assert (whole.message.text, whole.message.tool_calls) == ("one two", (call,))
    broken = await ask(Continued(Scripted(cut("one "), cut("two", tool_calls=(call,)))))
    assert broken.message.tool_calls[0].problem


async def test_a_second_part_that_fails_before_its_first_word_leaves_the_first(server, provider):
    server.say(Say("one two", finish="length"), Status(500), Status(500), Status(500))
    asked = await ask(Continued(Retrying(provider, Backoff(first=0.0))))
    assert (asked.message.text, asked.reply.finish) == ("one two", "length")
    assert len(server.requests) == 4


async def test_a_second_part_that_fails_amid_its_words_is_a_failure():
    broken = [TextDelta("three", "msg_2"), ProviderError("gone", kind="network")]
    asked = await ask(Continued(Scripted(cut("one two "), broken)))
    assert (asked.error.kind, asked.text) == ("network", "one two three")


async def test_leaving_early_closes_the_stream_below():
    script = Scripted(cut("one "), AssistantMessage("two three"))
    stream = Continued(script).stream(HELLO)
    await anext(stream)
    await anext(stream)
    await stream.aclose()
    assert script.closed == 2
