"""Whatever manner a server streams in, the reply is what the model said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request, Usage
from hermes_acp.agent.providers.chat_decoding import ChatDecoder
from hermes_acp.agent.providers.chat_dialect import Dialect
from hermes_acp.agent.providers.chat_encoding import chat_body
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, Opaque, ToolMessage, from_dict, to_dict, user
from tests.fakes.chat_rules import broken_rule
from tests.fakes.model_server import Call, Raw, Say, Status, chunk, raw, sse
from tests.support.asking import HELLO, READ_FILE, after_call, ask

STOP = chunk({}, "stop")
CALLED = chunk({}, "tool_calls")


def calling(name=None, arguments=None, **fields):
    """A chunk with one piece of a call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return chunk({"tool_calls": [{"function": function, **fields}]})


@pytest.fixture
def say(server, provider):
    """Lets the server send these chunks, and gives what the provider makes of them."""

    async def answered(*chunks, **options):
        server.say(raw(*chunks, **options))
        return await ask(provider)

    return answered


async def test_text_thought_and_calls_become_deltas_and_one_reply(server, provider):
    call = Call("read_file", {"path": "a", "note": "x" * 40})
    server.say(Say("two words", [call], "hm hm", usage={"prompt_tokens": 7, "completion_tokens": 3}))
    asked = await ask(provider)
    assert (asked.text, asked.thought) == ("two words", "hm hm")
    assert (asked.message.text, asked.message.reasoning) == ("two words", "hm hm")
    assert asked.calls == [("read_file", {"path": "a", "note": "x" * 40})]
    assert asked.drafted == [(asked.message.tool_calls[0].id, "read_file")]
    assert (asked.reply.finish, asked.reply.usage, asked.reply.model) == ("tool_calls", Usage(7, 3), "fake")


async def test_the_deltas_of_one_message_share_an_id_that_no_other_has(server, provider):
    server.say(Say("a b", reasoning="c d"), Say("e"))
    first, second = await ask(provider), await ask(provider)
    ids = [delta.message_id for delta in first.deltas[:-1]]
    assert ids[0] == ids[1] != ids[2] == ids[3]
    assert second.deltas[0].message_id not in ids


async def test_interleaved_calls_are_told_apart_by_index(say):
    asked = await say(
        calling("read_file", '{"pa', index=0, id="a"),
        calling("write_file", "", index=1, id="b"),
        calling(None, '{"x"', index=1),
        calling(None, 'th": "1"}', index=0),
        calling(None, ": 2}", index=1),
        CALLED,
    )
    assert asked.calls == [("read_file", {"path": "1"}), ("write_file", {"x": 2})]
    assert [call.provider_id for call in asked.message.tool_calls] == ["a", "b"]


WHOLE = '{"path":"x"}'
OTHER = '{"path":"y"}'
TWO_CALLS = {
    "no index": [calling("read_file", WHOLE, id="a"), calling("read_file", OTHER, id="b")],
    "no index, pieces by id": [
        calling("read_file", '{"path":', id="a"),
        calling("read_file", '{"path":', id="b"),
        calling(None, '"x"}', id="a"),
        calling(None, '"y"}', id="b"),
    ],
    "neither index nor id": [calling("read_file", '{"path":'), calling(None, '"x"}'), calling("read_file", OTHER)],
    "always index 0": [calling("read_file", WHOLE, index=0, id="a"), calling("read_file", OTHER, index=0, id="b")],
    "always index 0, no ids": [calling("read_file", WHOLE, index=0), calling("read_file", OTHER, index=0)],
    "always index 0, heads first": [
        calling("read_file", "", index=0, id="a"),
        calling(None, WHOLE, index=0),
        calling("read_file", "", index=0, id="b"),
        calling(None, OTHER, index=0),
    ],
    "one id for both": [calling("read_file", WHOLE, index=0, id="c"), calling("read_file", OTHER, index=1, id="c")],
    "one id for both, no index": [calling("read_file", WHOLE, id="c"), calling("read_file", OTHER, id="c")],
    "empty ids": [calling("read_file", WHOLE, index=0, id=""), calling("read_file", OTHER, index=1, id="")],
    "null ids and index": [
        calling("read_file", WHOLE, index=None, id=None),
        calling("read_file", OTHER, index=None, id=None),
    ],
    "both in one delta": [
        chunk({"tool_calls": [{"function": {"name": "read_file", "arguments": text}} for text in (WHOLE, OTHER)]})
    ],
    "name and id with every piece": [
        calling("read_file", "", index=0, id="a"),
        calling("read_file", '{"path":', index=0, id="a"),
        calling("read_file", '"x"}', index=0, id="a"),
        calling("read_file", OTHER, index=1, id="b"),
    ],
    "arguments as objects": [
        calling("read_file", {"path": "x"}, index=0, id="a"),
        calling("read_file", {"path": "y"}, index=1, id="b"),
    ],
    "an empty object first": [
        calling("read_file", {}, index=0, id="a"),
        calling(None, WHOLE, index=0),
        calling("read_file", OTHER, index=1, id="b"),
    ],
    "id before name": [
        chunk({"tool_calls": [{"index": 0, "id": "a"}]}),
        calling("read_file", WHOLE, index=0),
        calling("read_file", OTHER, index=1),
    ],
    "nothing deltas between": [
        calling("read_file", '{"path":', index=0, id="a"),
        chunk({"tool_calls": [None, {}]}),
        chunk({"tool_calls": None}),
        calling(None, '"x"}', index=0),
        calling("read_file", OTHER, index=1, id="b"),
    ],
}


@pytest.mark.parametrize("chunks", TWO_CALLS.values(), ids=TWO_CALLS.keys())
async def test_two_calls_stay_two_in_every_manner_of_streaming(say, chunks):
    asked = await say(*chunks, CALLED)
    assert asked.calls == [("read_file", {"path": "x"}), ("read_file", {"path": "y"})]
    ids = [call.id for call in asked.message.tool_calls]
    assert asked.drafted == [(ids[0], "read_file"), (ids[1], "read_file")]
    assert ids[0] != ids[1]
    assert "" not in ids


async def test_an_id_that_returns_every_turn_names_a_new_call_each_time(say):
    ids = {
        (await say(calling("read_file", WHOLE, index=0, id="call_0"), CALLED)).message.tool_calls[0].id
        for _ in range(4)
    }
    assert len(ids) == 4


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
async def test_no_arguments_are_an_empty_object(say, arguments):
    asked = await say(calling("read_file", arguments, index=0, id="a"), CALLED)
    assert asked.calls == [("read_file", {})]
    assert asked.message.tool_calls[0].problem == ""


@pytest.mark.parametrize(
    "arguments", ["[1]", '"str"', '{"a":1}{"a":1}', '{"a": NaN}', "not json", "[" * 100_000, "null"]
)
async def test_unusable_arguments_are_a_problem_of_the_call_and_leave_an_object(say, arguments):
    asked = await say(calling("read_file", arguments, index=0, id="a"), CALLED)
    assert asked.calls == [("read_file", {})]
    assert arguments[:100] in asked.message.tool_calls[0].problem
    assert asked.reply.finish == "tool_calls"


async def test_a_call_without_a_name_is_a_problem_and_not_drafted(say):
    asked = await say(calling("", WHOLE, index=0, id="a"), CALLED)
    assert asked.drafted == []
    assert asked.message.tool_calls[0].problem


async def test_a_tool_is_drafted_before_its_arguments_are_whole(server, provider):
    server.say(Raw((sse(calling("read_file", "", index=0, id="a"), done=False),), ending="stall"))
    stream = provider.stream(HELLO)
    drafted = await anext(stream)
    assert drafted.name == "read_file"
    await stream.aclose()


@pytest.mark.parametrize("reason", ["length", "tool_calls", "stop"])
async def test_a_call_cut_in_its_arguments_makes_a_cut_reply_whatever_the_finish_reason(say, reason):
    asked = await say(
        calling("read_file", WHOLE, index=0, id="a"),
        calling("write_file", '{"path":"README.md","content":"# Title\\nPart 1', index=1, id="b"),
        chunk({}, reason),
    )
    assert asked.reply.finish == "length"
    assert asked.message.tool_calls[1].problem


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "refusal"), ("MAX_TOKENS", "length"), ("eos", "stop")],
)
async def test_finish_reasons_of_a_text(say, reason, finish):
    assert (await say(chunk({"content": "hi"}), chunk({}, reason))).reply.finish == finish


async def test_calls_count_as_calls_when_the_server_says_stop(say):
    assert (await say(calling("read_file", WHOLE, index=0, id="a"), STOP)).reply.finish == "tool_calls"


async def test_a_refusal_is_shown_and_named(say):
    asked = await say(chunk({"content": None, "refusal": "I will not."}), STOP)
    assert (asked.message.text, asked.reply.finish) == ("I will not.", "refusal")


async def test_chunks_that_say_nothing_are_passed_over_and_the_last_usage_counts(say):
    nothing = {"id": "x", "object": "chat.completion.chunk"}
    asked = await say(
        {**nothing, "choices": []},
        {**chunk(), "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        nothing,
        {**nothing, "choices": None, "usage": None},
        {**nothing, "choices": [None]},
        {**chunk({"content": "hi"}), "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
        chunk({"content": None}),
        chunk({"content": "", "role": "assistant"}),
        chunk(None, ""),
        STOP,
        {**nothing, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )
    assert (asked.text, asked.reply.usage) == ("hi", Usage(5, 2))


async def test_usage_in_the_words_of_several_servers(say):
    details = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1}}
    counts = {"prompt_tokens": 9, "completion_tokens": 2}
    for usage, expected in (
        (counts | details, Usage(9, 2, 4, 1)),
        (counts | {"prompt_cache_hit_tokens": 4}, Usage(9, 2, 4)),
    ):
        assert (await say(STOP, {"choices": [], "usage": usage})).reply.usage == expected
    odd = {"prompt_tokens": "many", "completion_tokens": None, "prompt_tokens_details": []}
    assert (await say(STOP, {"choices": [], "usage": odd})).reply.usage == Usage()


async def test_a_reply_is_whole_without_usage_and_without_the_end_mark(say):
    asked = await say(chunk({"content": "hi"}), STOP, done=False)
    assert (asked.message.text, asked.reply.usage) == ("hi", None)


async def test_a_whole_completion_in_place_of_a_stream_is_read(server, provider):
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": WHOLE}}
    message = {"role": "assistant", "content": "hi", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    server.say(Status(200, {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 3}}))
    asked = await ask(provider)
    assert (asked.text, asked.calls, asked.reply.usage) == ("hi", [("read_file", {"path": "x"})], Usage(3))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thoughts_are_shown_kept_and_replayed_in_the_field_they_came_in(server, provider, field):
    server.say(Say("hi", reasoning="hm hm", reasoning_field=field))
    asked = await ask(provider)
    assert (asked.thought, asked.message.reasoning) == ("hm hm", "hm hm")
    assert asked.message.opaque == Opaque("fake", "fake", {field: "hm hm"})
    await ask(provider, after_call(opaque=asked.message.opaque))
    assert server.requests[1].messages[1][field] == "hm hm"
    assert server.problems == []


async def test_thoughts_told_twice_in_one_delta_are_shown_once(say):
    detail = {"type": "reasoning.text", "text": "hm", "index": 0}
    asked = await say(chunk({"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [detail]}), STOP)
    assert asked.thought == "hm"


async def test_pieces_of_reasoning_details_are_joined_to_the_blocks_they_are_of(say):
    def detail(**fields):
        return chunk({"reasoning_details": [fields]})

    asked = await say(
        detail(type="reasoning.text", index=0, text="one ", signature=None),
        detail(type="reasoning.text", index=0, text="two"),
        detail(type="reasoning.text", index=0, signature="S"),
        detail(type="reasoning.encrypted", index=1, data="QUJD\ud83d"),
        STOP,
    )
    assert asked.thought == "one two"
    assert asked.message.opaque.data == {
        "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "one two", "signature": "S"},
            {"type": "reasoning.encrypted", "index": 1, "data": "QUJD\ufffd"},
        ]
    }


async def test_content_in_parts_is_text(say):
    asked = await say(chunk({"content": [{"type": "text", "text": "hi"}]}), STOP)
    assert asked.message.text == "hi"


async def test_every_byte_in_a_write_of_its_own_gives_the_same_text(server, provider):
    data = sse(chunk({"content": "北京🌍"}), STOP).replace(b"\n\n", b"\r\n: ping\r\n\r\n")
    server.say(Raw([data[at : at + 1] for at in range(len(data))]))
    assert (await ask(provider)).message.text == "北京🌍"


async def test_a_pair_of_surrogates_cut_in_two_is_joined_and_a_lone_one_replaced(say):
    asked = await say(*(chunk({"content": text}) for text in ("a\ud83c", "\udf0d b \udcb2 c", "\ud83d")), STOP)
    assert asked.text == asked.message.text == "a🌍 b \ufffd c\ufffd"


async def test_a_lone_surrogate_in_arguments_name_or_id_is_replaced(say):
    asked = await say(
        r'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a\ud83d","function":{"name":"read\ud83d",'
        r'"arguments":"{\"path\":\"a\\ud835\ud835.txt\"}"}}]}}]}',
        CALLED,
    )
    (call,) = asked.message.tool_calls
    assert (call.name, call.provider_id, call.arguments) == ("read\ufffd", "a\ufffd", {"path": "a\ufffd\ufffd.txt"})


async def test_bytes_that_are_not_utf_8_are_replaced(server, provider):
    server.say(Raw((sse(chunk({"content": "a@b"}), STOP).replace(b"@", b"\xff"),)))
    assert (await ask(provider)).message.text == "a\ufffdb"


async def test_an_answer_of_nothing_is_a_reply_of_nothing(say):
    assert (await say(STOP)).message == AssistantMessage()


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "{", "stop", "\ud83d", "id"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "name", "id"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def maybe(**fields):
    """Objects of some of these fields, each of its kind or junk."""
    return st.fixed_dictionaries({}, optional={name: kind | junk for name, kind in fields.items()})


functions = maybe(name=st.sampled_from(["read_file", "x"]), arguments=st.sampled_from(["{", "}", '"a":', "1"]))
calls = st.lists(maybe(index=st.integers(0, 1), id=st.sampled_from(["a", "b"]), function=functions), max_size=2)
details = st.lists(maybe(type=st.just("reasoning.text"), text=st.just("hm"), index=st.integers(0, 1)), max_size=2)
deltas = maybe(
    content=st.text(max_size=3), reasoning_content=st.text(max_size=3), tool_calls=calls, reasoning_details=details
)
choices = st.lists(maybe(delta=deltas, finish_reason=st.sampled_from(["stop", "length"])), max_size=1)
chunks = maybe(choices=choices, usage=maybe(prompt_tokens=st.integers()), model=st.just("fake"), error=st.none())


@given(st.lists(chunks, max_size=6))
def test_whatever_comes_is_a_reply_that_can_be_stored_and_sent_back_or_a_provider_error(stream):
    endpoint = Endpoint("fake", "fake", "http://127.0.0.1")
    decoder = ChatDecoder(endpoint)
    try:
        deltas = [*decoder.decode(SseEvent(json.dumps(one)) for one in [*stream, STOP])]
        reply = decoder.reply()
    except ProviderError:
        return
    message = reply.message
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == message.text
    assert from_dict(json.loads(json.dumps(to_dict(message), ensure_ascii=False, allow_nan=False).encode())) == message
    results = [ToolMessage(call.id, call.name, "") for call in message.tool_calls]
    body = chat_body(Request("", [user("hi"), message, *results], [READ_FILE]), endpoint, Dialect())
    if results:
        assert broken_rule({"model": "fake", "stream": True, **body}) == ""
