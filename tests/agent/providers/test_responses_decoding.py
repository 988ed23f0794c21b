"""Whatever a Responses server leaves out, repeats or interleaves, the reply is what the model said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request, Usage
from hermes_acp.agent.providers.codex_responses import API
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.responses_decoding import ResponsesDecoder
from hermes_acp.agent.providers.responses_dialect import ResponsesDialect
from hermes_acp.agent.providers.responses_encoding import responses_body
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, ToolMessage, from_dict, to_dict, user
from tests.agent.providers.asking import HELLO, READ_FILE, ask
from tests.fakes.model_server import Call, Raw, Say, Status
from tests.fakes.responses_replies import completed, event, events, raw_events
from tests.fakes.responses_rules import broken_rule


@pytest.fixture
def api():
    return API


@pytest.fixture
def say(server, provider):
    """Lets the server send these events, and gives what the provider makes of them."""

    async def answered(*told):
        server.say(raw_events(*told))
        return await ask(provider)

    return answered


def message(text, number=0, **fields):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part], **fields}


def call(arguments, number=0, name="read_file", **fields):
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
    } | fields


def reasoning(text, number=0, **fields):
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "gAAA"} | fields


def added(item, number=0):
    return event("output_item.added", number, item=item)


def done(item, number=0):
    return event("output_item.done", number, item=item)


def said(delta, number=0, **fields):
    return event("output_text.delta", number, delta=delta, content_index=0, **fields)


def written(delta, number=0, **fields):
    return event("function_call_arguments.delta", number, delta=delta, **fields)


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


WHOLE = '{"path":"x"}'
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


async def test_a_call_id_that_returns_every_turn_names_a_new_call_each_time(say):
    ids = {(await say(done(call(WHOLE)), completed())).message.tool_calls[0].id for _ in range(4)}
    assert len(ids) == 4


async def test_two_calls_of_one_number_stay_two(say):
    first, second = call(WHOLE, 1), call('{"path":"y"}', 2)
    pieces = [[added({**one, "arguments": ""}), written(one["arguments"]), done(one)] for one in (first, second)]
    for told in ([*pieces[0], *pieces[1]], [*pieces[0][:2], *pieces[1][:2]], [pieces[0][2], pieces[1][2]]):
        for last in (completed(), completed(first, second)):
            asked = await say(*told, last)
            assert asked.calls == [("read_file", {"path": "x"}), ("read_file", {"path": "y"})]
            assert len(asked.drafted) == 2


async def test_a_response_that_ends_with_an_error_is_one(say):
    asked = await say(said("hi"), completed(status="failed", error={"code": "server_error", "message": "boom"}))
    assert asked.error is not None
    assert asked.error.kind == "server"


async def test_two_calls_of_one_id_stay_two(say):
    asked = await say(done(call(WHOLE), 0), done(call('{"path":"y"}'), 1), completed())
    assert asked.calls == [("read_file", {"path": "x"}), ("read_file", {"path": "y"})]


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
async def test_no_arguments_are_an_empty_object(say, arguments):
    asked = await say(done(call(arguments)), completed())
    assert asked.calls == [("read_file", {})]
    assert asked.message.tool_calls[0].problem == ""


async def test_a_call_without_a_name_is_a_problem_and_not_drafted(say):
    asked = await say(done(call(WHOLE, name="")), completed())
    assert asked.drafted == []
    assert asked.message.tool_calls[0].problem


async def test_a_call_cut_in_its_arguments_makes_a_cut_reply_whatever_the_status(say):
    asked = await say(done(call('{"path":"README.md","content":"# Ti')), completed())
    assert asked.reply.finish == "length"
    assert asked.message.tool_calls[0].problem


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


async def test_the_parts_of_a_summary_are_paragraphs(say):
    parts = [{"type": "summary_text", "text": text} for text in ("**One** first", "**Two** second")]
    told = [
        event("reasoning_summary_text.delta", delta=part["text"], summary_index=number)
        for number, part in enumerate(parts)
    ]
    asked = await say(*told, done(reasoning("", summary=parts)), completed())
    assert asked.thought == asked.message.reasoning == "**One** first\n\n**Two** second"


@pytest.mark.parametrize("streamed", [True, False])
async def test_open_models_think_in_their_own_words(say, streamed):
    item = reasoning("", summary=[], content=[{"type": "reasoning_text", "text": "hm hm"}], encrypted_content=None)
    deltas = [event("reasoning_text.delta", delta=piece, content_index=0) for piece in ("hm ", "hm")]
    asked = await say(*(deltas if streamed else ()), done(item), completed(item))
    assert asked.thought == asked.message.reasoning == "hm hm"
    (kept,) = asked.message.opaque.data["output"]
    assert kept["content"] == item["content"]


@pytest.mark.parametrize("first", ["reasoning_text", "reasoning_summary_text"])
async def test_of_a_thought_and_its_summary_the_one_that_came_first_is_shown(say, first):
    texts = {"reasoning_text": "long thought", "reasoning_summary_text": "short"}
    item = reasoning("short", content=[{"type": "reasoning_text", "text": "long thought"}])
    names = sorted(texts, key=lambda name: name != first)
    asked = await say(*(event(f"{name}.delta", delta=texts[name][:4]) for name in names), done(item), completed(item))
    assert asked.thought == asked.message.reasoning == texts[first]


async def test_reasoning_is_kept_as_it_came_with_the_order_of_the_reply(say):
    first = reasoning("hm", 0, encrypted_content="gAAAABo\u00e4==", status="completed")
    items = [first, message("one", 1, phase="commentary"), call(WHOLE, 2), reasoning("", 3, summary=[]), call("{}", 4)]
    asked = await say(*(done(item, number) for number, item in enumerate(items)), completed(*items))
    opaque = asked.message.opaque
    assert (opaque.provider, opaque.model) == ("fake", "fake")
    assert opaque.data["output"] == [
        {name: value for name, value in first.items() if name != "status"},
        {"type": "message", "length": 3, "id": "msg_1", "phase": "commentary"},
        {"type": "function_call", "id": "fc_2"},
        items[3],
        {"type": "function_call", "id": "fc_4"},
    ]


async def test_reasoning_that_is_not_self_contained_is_not_kept(say):
    bare = reasoning("hm", encrypted_content=None)
    asked = await say(done(bare), done(message("hi"), 1), completed(bare, message("hi")))
    assert (asked.message.reasoning, asked.message.opaque) == ("hm", None)


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


async def test_every_byte_in_a_write_of_its_own_gives_the_same_text(server, provider):
    data = events(said("北京🌍"), completed()).replace(b"\n\n", b"\r\n\r\n: ping\r\n\r\n")
    server.say(Raw([data[at : at + 1] for at in range(len(data))]))
    assert (await ask(provider)).message.text == "北京🌍"


async def test_bytes_that_are_not_utf_8_are_replaced(server, provider):
    server.say(Raw((events(said("a@b"), completed()).replace(b"@", b"\xff"),)))
    assert (await ask(provider)).message.text == "a\ufffdb"


async def test_lone_surrogates_are_replaced_wherever_they_stand(say):
    item = reasoning("\ud83d", encrypted_content="g\ud83d")
    asked = await say(
        said("a\ud83c", 1), said("\udf0d \udcb2", 1), done(item, 0), done(call('{"path":"\ud835"}', name="x\ud83d"), 2),
        completed(),
    )  # fmt: skip
    assert asked.message.text == "a🌍 \ufffd"
    assert asked.calls == [("x\ufffd", {"path": "\ufffd"})]
    json.dumps(to_dict(asked.message), ensure_ascii=False).encode()


async def test_an_answer_of_nothing_is_a_reply_of_nothing(say):
    assert (await say(completed())).message == AssistantMessage()


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "{", "\ud83d", "fc_0", "rs"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "type", "id"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def maybe(**fields):
    """Objects of some of these fields, each of its kind or junk."""
    return st.fixed_dictionaries({}, optional={name: kind | junk for name, kind in fields.items()})


KINDS = ["message", "function_call", "reasoning", "other"]
parts = st.lists(
    maybe(type=st.sampled_from(["output_text", "summary_text"]), text=st.text(max_size=3), refusal=st.just("no")),
    max_size=2,
)
items = maybe(
    type=st.sampled_from(KINDS),
    id=st.sampled_from(["rs_0", "fc_0", "msg_0"]),
    call_id=st.sampled_from(["call_0", "call_1"]),
    name=st.sampled_from(["read_file", "x y"]),
    arguments=st.sampled_from(["{", "{}", '{"a":1}']),
    content=parts,
    summary=parts,
    encrypted_content=st.just("gAAA"),
    phase=st.just("commentary"),
)
EVENTS = [
    "output_text.delta",
    "refusal.delta",
    "reasoning_summary_text.delta",
    "reasoning_text.delta",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.added",
    "output_item.done",
    "unknown",
]
told_events = maybe(
    type=st.sampled_from([f"response.{name}" for name in EVENTS]),
    output_index=st.integers(0, 2),
    item_id=st.sampled_from(["rs_0", "fc_0"]),
    item=items,
    delta=st.sampled_from(["{", '"a":', "1}", "é"]),
    arguments=st.sampled_from(["{}", '{"a":1}']),
    summary_index=st.integers(0, 1),
)


@given(st.lists(told_events, max_size=8), maybe(output=st.lists(items, max_size=2), usage=junk, status=st.just("x")))
def test_whatever_comes_is_a_reply_that_can_be_stored_and_sent_back_or_a_provider_error(stream, response):
    endpoint = Endpoint("fake", "fake", "http://127.0.0.1")
    decoder = ResponsesDecoder(endpoint)
    last = {"type": "response.completed", "response": response}
    try:
        deltas = [*decoder.decode(SseEvent(json.dumps(one)) for one in [*stream, last])]
        reply = decoder.reply()
    except ProviderError:
        return
    said_back = reply.message
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == said_back.text
    stored = json.loads(json.dumps(to_dict(said_back), ensure_ascii=False, allow_nan=False).encode())
    assert from_dict(stored) == said_back
    results = [ToolMessage(call.id, call.name, "") for call in said_back.tool_calls]
    after = results or [user("go on")]
    body = responses_body(Request("", [user("hi"), said_back, *after], [READ_FILE]), endpoint, ResponsesDialect())
    problem = broken_rule({"model": "fake", "stream": True, **body})
    assert "not found" in problem or problem == ""
