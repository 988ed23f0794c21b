"""Histories from outside: whatever they hold, one clear error or a history that every server takes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.chat_dialect import Dialect
from hermes_acp.agent.providers.chat_encoding import chat_body
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.library.given import read_history
from hermes_acp.messages import Text, UserMessage
from tests.fakes.chat_rules import broken_rule

ENDPOINT = Endpoint("custom", "m", "http://127.0.0.1:1/v1", "", 1.0, True)
TOOLS = [{"name": "list_files", "description": "", "parameters": {"type": "object"}}]

texts = st.text(st.characters(), max_size=12)
ids = st.sampled_from(["", "a", "b", "c"]) | texts
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
calls = st.fixed_dictionaries(
    {"id": ids, "type": st.just("function")},
    optional={"function": st.fixed_dictionaries({}, optional={"name": texts, "arguments": texts | anything})},
)
messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("user")}, optional={"content": texts | anything}),
    st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": texts | st.none(),
            "reasoning": texts,
            "tool_calls": st.lists(calls, max_size=3),
            "opaque": st.fixed_dictionaries({"provider": st.just("custom"), "model": st.just("m"), "data": anything}),
        },
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool")}, optional={"tool_call_id": ids, "content": texts | anything, "name": texts}
    ),
    st.fixed_dictionaries({"role": st.sampled_from(["system", "developer"]), "content": texts}),
)


def outcome(value):
    """What is read, or what is said of it."""
    try:
        return read_history(value), ""
    except (TypeError, ValueError) as error:
        return None, str(error)


@given(st.lists(messages, max_size=8))
def test_what_is_read_is_in_order_and_keeps_the_rules_of_strict_servers(history):
    read, error = outcome(history)
    if read is None:
        assert "conversation_history" in error
        return
    assert find_disorder(read.messages) is None
    asked = [*read.messages, UserMessage((Text("Go on."),))]
    body = chat_body(Request(read.system, asked, TOOLS), ENDPOINT, Dialect()) | {"model": "m", "stream": True}
    problem = broken_rule(json.loads(json.dumps(body)))
    assert not problem or "image" in problem  # Pictures are made to fit later, by looking at their bytes.


@given(st.lists(anything, max_size=3) | anything)
def test_anything_else_is_one_clear_error(value):
    read, error = outcome(value)
    assert read is not None or value is None or "conversation_history" in error


def test_a_message_is_named_by_its_place():
    history = [
        {"role": "system", "content": "x"},
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": 5},
    ]
    with pytest.raises(ValueError, match=r"conversation_history\[2\]: message content must be text or a list, not int"):
        read_history(history)


def test_a_system_message_in_the_middle_is_refused_by_name():
    with pytest.raises(ValueError, match=r"conversation_history\[1\]: .*'system'"):
        read_history([{"role": "user", "content": "x"}, {"role": "system", "content": "y"}])


def test_endless_nesting_is_refused():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="nested"):
        read_history([{"role": "user", "content": nested}])
