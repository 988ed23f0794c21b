"""The message form at its borders."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.messages import (
    AssistantMessage,
    Image,
    Opaque,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    from_dict,
    parse_arguments,
    to_dict,
)
from hermes_acp.nesting import DEEPEST

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
objects = st.dictionaries(words, st.none() | st.booleans() | st.integers() | words | st.lists(words), max_size=4)
parts = st.builds(Text, words) | st.builds(Image, st.just("aGk="), st.just("image/png"))
calls = st.builds(ToolCall, id=words, name=words, arguments=objects, provider_id=words, problem=words)
messages = (
    st.builds(UserMessage, st.lists(parts, min_size=1, max_size=3).map(tuple))
    | st.builds(
        AssistantMessage,
        text=words,
        reasoning=words,
        tool_calls=st.lists(calls, max_size=3).map(tuple),
        opaque=st.none() | st.builds(Opaque, words, words, objects),
        synthetic=st.booleans(),
    )
    | st.builds(ToolMessage, call_id=words, name=words, text=words, is_error=st.booleans())
)


@given(messages)
def test_a_message_survives_its_stored_form(message):
    assert from_dict(json.loads(json.dumps(to_dict(message)))) == message


def test_no_arguments_mean_an_empty_object():
    assert parse_arguments("") == ({}, "")
    assert parse_arguments(None) == ({}, "")


def test_arguments_may_come_as_an_object():
    assert parse_arguments({"path": "x"}) == ({"path": "x"}, "")


def test_unusable_arguments_name_the_problem_and_leave_a_valid_object():
    for raw in ('{"path": ', "[1]", '"str"', '{"a":1}{"a":1}', '{"a": NaN}', "[" * 100_000):
        arguments, problem = parse_arguments(raw)
        assert arguments == {}
        assert problem


def test_a_lone_surrogate_in_arguments_is_replaced():
    assert parse_arguments('{"path": "a\\ud835.txt"}') == ({"path": "a\ufffd.txt"}, "")


@pytest.mark.parametrize("depth", [DEEPEST, 600, 990, 100_000])
def test_arguments_that_are_nested_too_deeply_are_a_problem_of_the_call(depth):
    arguments, problem = parse_arguments('{"a": ' + "[" * depth + "]" * depth + "}")
    assert arguments == {}
    assert problem
