"""Bytes and events of a Responses server that are cut, broken or senseless."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.responses_decoding import ResponsesDecoder
from hermes_acp.agent.providers.responses_dialect import ResponsesDialect
from hermes_acp.agent.providers.responses_encoding import responses_body
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, ToolMessage, from_dict, to_dict, user
from tests.fakes.model_server import Raw
from tests.fakes.responses_replies import completed, events
from tests.fakes.responses_rules import broken_rule
from tests.support.asking import READ_FILE, ask
from tests.support.responses_events import api, call, done, reasoning, said, say

__all__ = ["api", "say"]


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
        said("a\ud83c", 1),
        said("\udf0d \udcb2", 1),
        done(item, 0),
        done(call('{"path":"\ud835"}', name="x\ud83d"), 2),
        completed(),
    )
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
