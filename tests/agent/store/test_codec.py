"""Messages and events keep everything on their way through the store."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.store.codec import (
    decode_event,
    decode_message,
    dump,
    encode_event,
    encode_message,
    merged,
    recorded,
)
from hermes_acp.cards import ToolResult
from hermes_acp.events import (
    ReasoningDelta,
    StatusChanged,
    StepFinished,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
    UsageChanged,
)
from hermes_acp.messages import AssistantMessage, ToolCall, user
from tests.agent.store.strategies import events, messages

DELTAS = (TextDelta, ReasoningDelta)


@given(events)
def test_an_event_survives_its_stored_form(event):
    assert recorded(event)
    assert decode_event(*encode_event(event)) == event


@given(messages)
def test_a_message_survives_its_stored_form(message):
    assert decode_message(encode_message(message)) == message


@pytest.mark.parametrize(
    "event",
    [
        ToolDrafted("c", "read"),
        ToolStarted("c"),
        ToolOutput("c", "x"),
        StatusChanged("thinking"),
        StepFinished(1, 2),
        UsageChanged(1, 2),
    ],
)
def test_what_only_passes_by_is_not_recorded(event):
    assert not recorded(event)


@given(st.lists(events, max_size=12))
def test_joining_pieces_keeps_words_and_order(facts):
    def letters(items):
        pieces = [item for item in items if isinstance(item, DELTAS)]
        return [(type(piece), piece.message_id, letter) for piece in pieces for letter in piece.text]

    joined = list(merged(facts))
    assert letters(joined) == letters(facts)
    others = [item for item in joined if not isinstance(item, DELTAS)]
    assert others == [item for item in facts if not isinstance(item, DELTAS)]


def test_a_thousand_pieces_of_one_answer_become_one():
    assert list(merged([TextDelta("ab", "m")] * 1000)) == [TextDelta("ab" * 1000, "m")]


def test_lone_surrogates_are_replaced_wherever_they_stand():
    event = ToolFinished("c", "run", ToolResult("a\ud800b", raw={"k\udfff": ["\ud835"]}))
    kind, body = encode_event(event)
    body.encode("utf-8")
    assert decode_event(kind, body) == ToolFinished("c", "run", ToolResult("a\ufffdb", raw={"k\ufffd": ["\ufffd"]}))
    assert decode_message(encode_message(user("\udc80x"))) == user("\ufffdx")


def test_what_json_cannot_say_never_stops_the_record():
    loop = []
    loop.append(loop)
    hostile = {"nan": math.nan, "set": {1}, "big": 10**6000, "loop": loop, 3: 1}
    _, body = encode_event(ToolPrepared("c", "x", "other", "t", {"a": 1, "b": hostile}))
    stored = json.loads(body)["arguments"]
    assert stored["a"] == 1
    assert stored["b"]["nan"] is None
    assert stored["b"]["set"] == "{1}"
    assert stored["b"]["3"] == 1


@given(st.recursive(st.floats() | st.text() | st.binary(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_dumping_gives_strict_utf8_json(value):
    text = dump(value)
    text.encode("utf-8")
    json.loads(text, parse_constant=pytest.fail)


def test_arguments_that_json_cannot_say_never_stop_the_record():
    message = AssistantMessage(tool_calls=(ToolCall("c", "x", {"a": math.inf, "b": 1}),))
    assert decode_message(encode_message(message)).tool_calls[0].arguments == {"a": None, "b": 1}


def test_kinds_of_a_later_version_are_left_out():
    assert decode_event("hologram", '{"a": 1}') is None


def test_fields_of_a_later_version_are_left_out():
    assert decode_event("text", '{"text": "x", "message_id": "m", "colour": "red"}') == TextDelta("x", "m")


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '"x"', "null", '{"text": "x"}', "[" * 100_000, '{"text": 5, "message_id": "m"}']
)
@pytest.mark.parametrize("kind", ["text", "user_prompted", "tool_finished", "plan"])
def test_a_damaged_body_is_left_out(kind, body):
    assert decode_event(kind, body) is None


@pytest.mark.parametrize("body", ["", "[]", "{}", "null", '{"role": "oracle"}', '{"role": "user", "content": 5}'])
def test_a_damaged_message_is_left_out(body):
    assert decode_message(body) is None
