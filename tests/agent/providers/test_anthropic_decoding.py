"""Whatever manner a server of the Messages API streams in, the reply is what the model said."""

from itertools import pairwise

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.anthropic_decoding import BLOCKS, MessagesDecoder
from hermes_acp.agent.providers.anthropic_messages import API
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.sse import SseDecoder
from hermes_acp.errors import ProviderError
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from tests.fakes.anthropic_replies import BEGIN, MessagesWire, delta, end, events, raw, start, stop
from tests.fakes.model_server import Call, Raw, Say
from tests.support.asking import ask

ENDPOINT = Endpoint("fake", "fake", "http://fake")


@pytest.fixture
def api():
    return API


@pytest.fixture
def say(server, provider):
    """Lets the server send these events between the first and the last, and gives what the provider makes of them."""

    async def answered(*items, reason="end_turn", **usage):
        server.say(raw(BEGIN, *items, *end(reason, **usage)))
        return await ask(provider)

    return answered


def calling(index, arguments, name="read_file", identity="t1"):
    """The events of a call whose arguments come in these pieces."""
    begin = start(index, type="tool_use", id=identity, name=name, input={})
    return (begin, *(delta(index, "input_json_delta", partial_json=piece) for piece in arguments), stop(index))


def text(index, *pieces):
    return start(index, type="text", text=""), *(delta(index, "text_delta", text=one) for one in pieces), stop(index)


def thought(index, said, signature="s"):
    return (
        start(index, type="thinking", thinking="", signature=""),
        delta(index, "thinking_delta", thinking=said),
        delta(index, "signature_delta", signature=signature),
        stop(index),
    )


async def test_text_thought_and_calls_become_deltas_and_one_reply(server, provider):
    call = Call("read_file", {"path": "a", "note": "x" * 40})
    server.say(Say("two words", [call], "hm hm", usage={"prompt_tokens": 7, "completion_tokens": 3}))
    asked = await ask(provider)
    assert (asked.text, asked.thought) == ("two words", "hm hm")
    assert (asked.message.text, asked.message.reasoning) == ("two words", "hm hm")
    assert asked.calls == [("read_file", {"path": "a", "note": "x" * 40})]
    assert asked.drafted == [(asked.message.tool_calls[0].id, "read_file")]
    assert (asked.reply.finish, asked.reply.usage, asked.reply.model) == ("tool_calls", Usage(7, 3), "fake")
    assert len({delta.message_id for delta in asked.of(TextDelta) + asked.of(ReasoningDelta)}) == 2


async def test_calls_that_are_written_by_turns_stay_apart(say):
    first, *firsts = calling(0, ['{"pa', 'th": 1}'], identity="a")[:3]
    second, *seconds = calling(1, ['{"path"', ": 2}"], identity="b")[:3]
    asked = await say(first, second, seconds[0], firsts[0], firsts[1], seconds[1], reason="tool_use")
    assert asked.calls == [("read_file", {"path": 1}), ("read_file", {"path": 2})]
    assert [call.provider_id for call in asked.message.tool_calls] == ["a", "b"]


@pytest.mark.parametrize(
    ("events", "arguments"),
    [
        (calling(0, []), {}),
        (calling(0, [""]), {}),
        (calling(0, ['{"a"', ':"\\ud83c', '\\udf0d"}']), {"a": "🌍"}),
        (calling(0, [{"a": 1}]), {"a": 1}),
        ((start(0, type="tool_use", id="t", name="read_file", input={"a": 1}), stop(0)), {"a": 1}),
        ((start(0, type="tool_use", id="t", name="read_file"), stop(0)), {}),
        (
            (
                start(0, type="tool_use", id="t", name="read_file", input={"a": 1}),
                delta(0, "input_json_delta", partial_json='{"a": 2}'),
            ),
            {"a": 2},
        ),
    ],
    ids=["none", "empty", "in pieces", "an object", "with the beginning", "no input", "both"],
)
async def test_arguments_come_in_every_manner(say, events, arguments):
    asked = await say(*events, reason="tool_use")
    assert asked.calls == [("read_file", arguments)]
    assert asked.message.tool_calls[0].problem == ""


async def test_ids_that_are_missing_or_equal_are_made_our_own(say):
    twice = [*calling(0, [], identity="same"), *calling(1, [], identity="same"), *calling(2, [], identity="")]
    calls = (await say(*twice, reason="tool_use")).message.tool_calls
    assert len({call.id for call in calls}) == 3
    assert [call.provider_id for call in calls] == ["same", "same", ""]


async def test_blocks_that_all_have_one_number_stay_apart(say):
    asked = await say(*text(0, "one"), *calling(0, ['{"a": 1}']), *calling(0, ['{"a": 2}']), reason="tool_use")
    assert (asked.message.text, [arguments for _, arguments in asked.calls]) == ("one", [{"a": 1}, {"a": 2}])


async def test_deltas_without_a_beginning_make_their_block(say):
    asked = await say(delta(0, "thinking_delta", thinking="hm"), delta(0, "text_delta", text="hi"))
    assert (asked.message.reasoning, asked.message.text) == ("hm", "hi")


async def test_a_call_without_a_name_is_a_problem_and_no_card(say):
    asked = await say(delta(0, "input_json_delta", partial_json="{}"), reason="tool_use")
    assert asked.message.tool_calls[0].problem
    assert asked.of(ToolDrafted) == []


async def test_texts_with_something_between_are_parted_by_a_blank_line_and_others_are_not(say):
    asked = await say(*text(0, "one"), *text(1, " two"), *thought(2, "hm"), *text(3, "three"), *thought(4, "so"))
    assert asked.message.text == asked.text == "one two\n\nthree"
    assert asked.message.reasoning == asked.thought == "hm\n\nso"


async def test_thoughts_are_kept_as_they_came_with_the_places_of_all_else(say):
    hidden = {"type": "redacted_thinking", "data": "xyz=="}
    asked = await say(
        *thought(0, "one \ud83c", "s1"),
        *text(1, "Look."),
        start(2, **hidden),
        stop(2),
        *thought(3, "", "s2"),
        *text(4, "Now."),
        *calling(5, ['{"a": 1}']),
        reason="tool_use",
    )
    assert asked.message.opaque.data == {
        BLOCKS: [
            {"type": "thinking", "thinking": "one \ufffd", "signature": "s1"},
            {"type": "text", "start": 0, "end": 5},
            hidden,
            {"type": "thinking", "thinking": "", "signature": "s2"},
            {"type": "text", "start": 7, "end": 11},
            {"type": "tool_use"},
        ]
    }
    assert asked.message.text == "Look.\n\nNow."


async def test_without_thoughts_nothing_is_kept(say):
    assert (await say(*text(0, "hi"))).message.opaque is None


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("something new", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "refusal"),
    ],
)
async def test_every_reason_to_stop_has_its_meaning(say, reason, finish):
    assert (await say(*text(0, "hi"), reason=reason)).reply.finish == finish


@pytest.mark.parametrize("reason", ["max_tokens", "tool_use", "end_turn"])
async def test_a_reply_that_ends_within_its_last_call_is_cut(say, reason):
    assert (await say(*calling(0, ['{"path": "a'])[:-1], reason=reason)).reply.finish == "length"


async def test_a_refusal_without_words_is_explained_in_the_servers(server, provider):
    details = {"type": "refusal", "explanation": "This cannot be answered."}
    told = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}, "usage": {}}
    server.say(raw(BEGIN, told, {"type": "message_stop"}))
    asked = await ask(provider)
    assert (asked.reply.finish, asked.text, asked.message.text) == ("refusal", *["This cannot be answered."] * 2)


async def test_what_was_cached_is_counted_as_input_too(server, provider):
    first = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}
    began = {"type": "message_start", "message": {**BEGIN["message"], "usage": first}}
    ended = {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 8}}
    server.say(raw(began, *text(0, "hi"), *end(**ended)))
    assert (await ask(provider)).reply.usage == Usage(input=115, output=20, cached=100, reasoning=8, kept=5)


async def test_counts_that_come_last_or_are_null_are_understood(say):
    asked = await say(*text(0, "hi"), input_tokens=9, output_tokens=2, cache_read_input_tokens=None)
    assert asked.reply.usage == Usage(9, 2)
    assert (await say(*text(0, "hi"))).reply.usage is None


async def test_pings_unknown_events_and_empty_data_are_passed_over(say):
    asked = await say(
        'event: ping\ndata: {"type": "ping"}\n\n',
        "event: ping\ndata: \n\n",
        ": comment\n\n",
        {"type": "something_new", "index": 0},
        start(7, type="server_tool_use", id="s", name="web_search"),
        delta(7, "something_delta", something=1),
        *text(0, "", "hi", ""),
        "data: [DONE]\n\n",
    )
    assert (asked.message.text, len(asked.of(TextDelta))) == ("hi", 1)


async def test_events_without_names_are_told_by_their_type(server, provider):
    lines = [line for line in events(BEGIN, *text(0, "hi"), *end()).split(b"\n") if not line.startswith(b"event:")]
    server.say(Raw((b"\n".join(lines),)))
    assert (await ask(provider)).message.text == "hi"


pieces = st.text(max_size=4)
blocks = st.one_of(
    st.tuples(st.just("text"), st.lists(pieces, max_size=3)),
    st.tuples(st.just("thinking"), st.lists(pieces, max_size=3)),
    st.tuples(st.just("tool_use"), st.dictionaries(pieces, pieces, max_size=2)),
)


def written(kind, content, index):
    """The events of a block, its call's arguments cut in three."""
    if kind == "text":
        return text(index, *content)
    if kind == "thinking":
        return [event for piece in content[:1] or [""] for event in thought(index, piece)]
    data = Call("t", content).text
    return calling(index, [data[:1], data[1:3], data[3:]])


def decoded(data, cuts):
    """All deltas of these bytes, cut at these places."""
    stream, decoder, found = SseDecoder(), MessagesDecoder(ENDPOINT), []
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for begin, finish in pairwise(places):
        found += decoder.decode(stream.feed(data[begin:finish]))
    found += decoder.decode(stream.close())
    return found, decoder


@given(st.lists(blocks, max_size=4), st.lists(st.integers(0, 10_000), max_size=12))
def test_wherever_the_bytes_are_cut_the_reply_is_the_same(content, cuts):
    items = [event for index, (kind, said) in enumerate(content) for event in written(kind, said, index)]
    data = events(BEGIN, *items, *end())
    (whole, first), (cut, second) = decoded(data, []), decoded(data, cuts)
    spoken = ["".join(one.text for one in found if isinstance(one, TextDelta)) for found in (whole, cut)]
    expected, found = first.reply(), second.reply()
    assert found.message.text == expected.message.text == spoken[0] == spoken[1]
    assert found.message.reasoning == expected.message.reasoning
    assert found.message.opaque == expected.message.opaque
    assert [call.arguments for call in found.message.tool_calls] == [
        said for kind, said in content if kind == "tool_use"
    ]
    assert (found.finish, found.usage) == (expected.finish, expected.usage)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | pieces,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "index", "delta", "content_block", "text", "thinking", "signature", "usage", "id"]
            ),
            inner
            | st.sampled_from(["text", "text_delta", "tool_use", "thinking", "input_json_delta", "message_delta"]),
        )
    ),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"]
)


@given(st.lists(st.tuples(kinds, hostile), max_size=6))
def test_hostile_events_give_a_reply_or_a_provider_error(items):
    shaped = [{"type": kind, **(fields if isinstance(fields, dict) else {"delta": fields})} for kind, fields in items]
    data = events(*({**event, "type": kind} for event, (kind, _) in zip(shaped, items, strict=True)))
    try:
        found, decoder = decoded(data, [])
        reply = decoder.reply()
    except ProviderError:
        return
    assert isinstance(reply, Reply)
    "".join([reply.message.text, reply.message.reasoning, repr(found)]).encode()


SDK_REPLIES = {
    "text": Say("two words"),
    "a thought": Say("two words", reasoning="hm hm"),
    "calls": Say("look", [Call("read_file", {"path": "a" * 50}), Call("read_file", {"path": "ü🌍"})]),
    "no arguments": Say(calls=[Call("list_files")]),
    "counts": Say(
        "a", usage={"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    ),
    "cut": Say("a b", finish="length"),
    "interleaved": raw(
        {"type": "message_start", "message": {**BEGIN["message"], "id": "m", "usage": {"input_tokens": 1}}},
        *thought(0, "hm", "s1"),
        *text(1, "look"),
        start(2, type="redacted_thinking", data="x=="),
        stop(2),
        start(3, type="tool_use", id="a", name="read_file", input={}),
        start(4, type="tool_use", id="b", name="read_file", input={}),
        delta(4, "input_json_delta", partial_json='{"path": 2}'),
        delta(3, "input_json_delta", partial_json='{"pa'),
        delta(3, "input_json_delta", partial_json='th": 1}'),
        stop(3),
        stop(4),
        *end("tool_use", output_tokens=3),
    ),
}
FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


@pytest.mark.parametrize("reply", SDK_REPLIES.values(), ids=SDK_REPLIES.keys())
async def test_the_same_bytes_make_the_same_message_as_the_sdks_own_accumulator(server, provider, reply):
    if isinstance(reply, Say):
        pieces = MessagesWire().pieces(reply, {}, 1)
        reply = Raw((pieces.head, *pieces.deltas, pieces.end))
    server.say(reply, reply)
    ours = await ask(provider)
    root = server.url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="none", base_url=root, max_retries=0) as client:
        arguments = {"model": "fake", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
        async with client.messages.stream(**arguments) as stream:
            theirs = await stream.get_final_message()
    of = {kind: [block for block in theirs.content if block.type == kind] for kind in ("text", "thinking", "tool_use")}
    assert ours.message.text == "".join(block.text for block in of["text"])
    assert ours.message.reasoning == "".join(block.thinking for block in of["thinking"])
    assert ours.calls == [(block.name, block.input) for block in of["tool_use"]]
    kept = ours.message.opaque.data[BLOCKS] if ours.message.opaque else []
    assert [block["signature"] for block in kept if block["type"] == "thinking"] == [
        block.signature for block in of["thinking"]
    ]
    assert ours.reply.finish == FINISHES[theirs.stop_reason]
    usage = theirs.usage
    cached = usage.cache_read_input_tokens or 0
    assert ours.reply.usage == Usage(usage.input_tokens + cached, usage.output_tokens, cached)
