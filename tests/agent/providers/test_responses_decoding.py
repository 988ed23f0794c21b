"""Whatever a Responses server leaves out, repeats or interleaves, the reply is what the model said."""

import pytest

from hermes_acp.agent.providers.base import Usage
from tests.fakes.model_server import Call, Raw, Say, Status
from tests.fakes.responses_replies import completed, event, events
from tests.support.asking import HELLO, ask
from tests.support.responses_events import WHOLE, added, api, call, done, message, reasoning, said, say, written

__all__ = ["api", "say"]


async def test_text_thought_and_calls_become_deltas_and_one_reply(server, provider):
    path = {"path": "a", "note": "x" * 40}
    server.say(Say("two words", [Call("read_file", path)], "hm hm", usage={"prompt_tokens": 7, "completion_tokens": 3}))
    asked = await ask(provider)
    assert (asked.text, asked.thought) == ("two words", "hm hm")
    assert (asked.message.text, asked.message.reasoning) == ("two words", "hm hm")
    assert asked.calls == [("read_file", path)]
    assert asked.drafted == [(asked.message.tool_calls[0].id, "read_file")]
    assert (asked.reply.finish, asked.reply.model) == ("tool_calls", "fake")
    assert (asked.reply.usage.input, asked.reply.usage.output) == (7, 3)


async def test_a_tool_is_drafted_before_its_arguments_are_whole(server, provider):
    server.say(Raw((events(added(call(""))),), ending="stall"))
    stream = provider.stream(HELLO)
    assert (await anext(stream)).name == "read_file"
    await stream.aclose()


async def test_interleaved_items_are_told_apart_by_their_numbers(say):
    asked = await say(
        added(reasoning("", summary=[]), 0),
        added(call("", 1), 1),
        added(call("", 2, "write_file"), 2),
        written('{"pa', 1),
        event("reasoning_summary_text.delta", 0, delta="hm", summary_index=0),
        written('{"x"', 2),
        written('th": "1"}', 1),
        written(": 2}", 2),
        completed(),
    )
    assert asked.calls == [("read_file", {"path": "1"}), ("write_file", {"x": 2})]
    assert (asked.thought, [one.provider_id for one in asked.message.tool_calls]) == ("hm", ["call_1", "call_2"])


async def test_interleaved_messages_are_shown_one_after_the_other(say):
    asked = await say(
        added(message("", 0, content=[]), 0),
        added(message("", 1, content=[]), 1),
        said("Hel", 0),
        said("wor", 1),
        said("lo", 0),
        done(message("Hello", 0), 0),
        said("ld", 1),
        completed(message("Hello", 0), message("world", 1)),
    )
    assert asked.text == asked.message.text == "Hello\n\nworld"


LACKING = {
    "no deltas": [done(reasoning("hm"), 0), done(message("hi"), 1), done(call(WHOLE), 2), completed()],
    "nothing but the last event": [completed(reasoning("hm"), message("hi"), call(WHOLE))],
    "no ends of items": [
        added(reasoning("", summary=[]), 0),
        event("reasoning_summary_text.delta", 0, delta="hm", summary_index=0),
        said("hi", 1),
        added(call(""), 2),
        written(WHOLE, 2),
        completed(),
    ],
    "half of the deltas": [
        event("reasoning_summary_text.delta", 0, delta="h", summary_index=0),
        done(reasoning("hm"), 0),
        said("h", 1),
        done(message("hi"), 1),
        added(call(""), 2),
        written('{"path":', 2),
        done(call(WHOLE), 2),
        completed(reasoning("hm"), message("hi"), call(WHOLE)),
    ],
    "arguments only as a whole": [
        done(reasoning("hm"), 0),
        said("hi", 1),
        added(call(""), 2),
        event("function_call_arguments.done", 2, arguments=WHOLE),
        completed(),
    ],
    "arguments as an object": [said("hi", 1), done(reasoning("hm"), 0), done(call({"path": "x"}), 2), completed()],
    "everything twice": [
        *(added(one, number) for number, one in enumerate((reasoning("", summary=[]), message("", content=[])))),
        event("reasoning_summary_text.delta", 0, delta="hm", summary_index=0),
        said("hi", 1),
        done(reasoning("hm"), 0),
        done(message("hi"), 1),
        done(message("hi"), 1),
        done(call(WHOLE), 2),
        done(call(WHOLE), 2),
        completed(reasoning("hm"), message("hi"), call(WHOLE)),
    ],
    "other ids in every event": [
        done(reasoning("hm", id="a"), 0),
        said("hi", 1, item_id="b"),
        done(message("hi", id="c"), 1),
        added(call("", id="d"), 2),
        written(WHOLE, 2, item_id="e"),
        done(call(WHOLE, id="f"), 2),
        completed(reasoning("hm", id="g"), message("hi", id="h"), call(WHOLE, id="i")),
    ],
    "one number for all": [
        added(reasoning("", summary=[])),
        event("reasoning_summary_text.delta", delta="h", summary_index=0),
        event("reasoning_summary_text.delta", delta="m", summary_index=0),
        done(reasoning("hm")),
        added(message("", content=[])),
        said("h"),
        said("i"),
        done(message("hi")),
        added(call("")),
        written('{"path":'),
        written('"x"}'),
        done(call(WHOLE)),
        completed(reasoning("hm"), message("hi"), call(WHOLE)),
    ],
    "one number for all, and deltas alone": [
        event("reasoning_summary_text.delta", delta="h", summary_index=0),
        event("reasoning_summary_text.delta", delta="m", summary_index=0),
        said("h"),
        said("i"),
        added(call("")),
        written('{"path":'),
        written('"x"}'),
        completed(),
    ],
    "a final output without the reasoning": [
        done(reasoning("hm"), 0),
        said("hi", 1),
        done(call(WHOLE), 2),
        completed(message("hi"), call(WHOLE)),
    ],
    "no numbers": [
        {"type": "response.output_item.done", "item": reasoning("hm")},
        {"type": "response.output_item.added", "item": message("", content=[])},
        {"type": "response.output_text.delta", "delta": "hi"},
        {"type": "response.output_item.added", "item": call("")},
        {"type": "response.function_call_arguments.delta", "delta": '{"path":', "item_id": "fc_0"},
        {"type": "response.function_call_arguments.delta", "delta": '"x"}'},
        {"type": "response.output_item.done", "item": call(WHOLE)},
        completed(),
    ],
    "events that mean nothing": [
        {"type": "response.created", "response": None},
        {"type": "response.something_new", "output_index": 0},
        {"type": "keepalive"},
        {},
        done(None),
        added(None),
        done(reasoning("hm"), 0),
        said(None, 1),
        said("hi", 1),
        added({"type": "web_search_call", "id": "ws_1"}, 2),
        done(call(WHOLE), 3),
        completed(),
    ],
}


@pytest.mark.parametrize("told", LACKING.values(), ids=LACKING.keys())
async def test_a_reply_is_whole_whatever_its_events_leave_out_or_repeat(say, told):
    asked = await say(*told)
    assert (asked.text, asked.message.text) == ("hi", "hi")
    assert (asked.thought, asked.message.reasoning) == ("hm", "hm")
    assert asked.calls == [("read_file", {"path": "x"})]
    assert asked.drafted == [(asked.message.tool_calls[0].id, "read_file")]
    assert asked.reply.finish == "tool_calls"


async def test_a_response_that_ends_with_an_error_is_one(say):
    asked = await say(said("hi"), completed(status="failed", error={"code": "server_error", "message": "boom"}))
    assert asked.error is not None
    assert asked.error.kind == "server"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "length"), ("content_filter", "refusal"), ("max_messages", "length"), (None, "length")],
)
async def test_an_incomplete_response_says_why(say, reason, finish):
    last = completed(message("hi"), status="incomplete", incomplete_details={"reason": reason})
    asked = await say(said("h"), last | {"type": "response.incomplete"})
    assert (asked.text, asked.reply.finish) == ("hi", finish)


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_refusal_is_shown_and_named(say, streamed):
    item = message("", content=[{"type": "refusal", "refusal": "I will not."}])
    deltas = [event("refusal.delta", delta="I will "), event("refusal.delta", delta="not.")] if streamed else []
    asked = await say(*deltas, done(item), completed(item))
    assert (asked.text, asked.message.text, asked.reply.finish) == ("I will not.", "I will not.", "refusal")


async def test_usage_with_cached_and_reasoning_tokens(say):
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    assert (await say(said("hi"), completed(usage=usage))).reply.usage == Usage(9, 3, 4, 2)
    odd = {"input_tokens": "many", "input_tokens_details": [], "output_tokens": None}
    assert (await say(said("hi"), completed(usage=odd))).reply.usage == Usage()
    assert (await say(said("hi"), completed())).reply.usage is None


async def test_a_whole_response_in_place_of_a_stream_is_read(server, provider):
    whole = completed(reasoning("hm"), message("hi"), call(WHOLE))["response"]
    server.say(Status(200, whole))
    asked = await ask(provider)
    assert (asked.text, asked.thought, asked.calls) == ("hi", "hm", [("read_file", {"path": "x"})])
