"""Whatever a user, a model, a tool or a host says: a trajectory is one right line, and nothing raises."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.agent.sharegpt.blocks import json_blocks
from hermes_acp.agent.sharegpt.checking import find_faults
from hermes_acp.agent.trajectory import save_trajectory, to_sharegpt
from hermes_acp.nesting import DEEPEST
from hermes_acp.text import clean

TAGS = [
    f"{space}<{slash}{name}>{end}"
    for name in ("think", "thinking", "REASONING_SCRATCHPAD", "tool_call", "tool_response", "tools", "th", "ink")
    for slash in ("", "/")
    for space in ("", "\n")
    for end in ("", "\n")
]
PIECES = [
    *TAGS,
    "```\n",
    "`",
    "\ud800",
    "\udfff",
    "\u2028",
    "\x85",
    "\x00",
    "\r\n",
    '{"a": NaN}',
    '{"a": 1}',
    "[",
    "{",
    "q",
]
words = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join)
numbers = st.floats() | st.integers() | st.just(10**400)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
parts = st.lists(
    words
    | values
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image_url", "input_audio", "file"])}, optional={"text": words}
    ),
    max_size=4,
)
contents = words | parts | values
ids = st.none() | st.sampled_from(["a", "b"]) | values
calls = st.fixed_dictionaries(
    {}, optional={"id": ids, "function": st.fixed_dictionaries({}, optional={"name": values, "arguments": values})}
)
replies = st.fixed_dictionaries(
    {"role": st.just("assistant")},
    optional={
        "content": contents,
        "reasoning": contents,
        "reasoning_content": contents,
        "reasoning_details": contents,
        "tool_calls": st.lists(calls, max_size=3) | values,
    },
)
results = st.fixed_dictionaries({"role": st.just("tool")}, optional={"tool_call_id": ids, "content": contents})
people = st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": contents})
tools = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("function")},
        optional={
            "function": st.fixed_dictionaries({}, optional=dict.fromkeys(["name", "description", "parameters"], values))
        },
    ),
    max_size=2,
)
histories = st.lists(replies | results | people, max_size=6).map(
    lambda messages: [{"role": "user", "content": "q"}, *messages]
)


@settings(max_examples=60, deadline=None)
@given(histories, tools, words)
def test_any_history_is_one_right_line(tmp_path_factory, messages, tools, query):
    assert_one_right_line(tmp_path_factory, messages, tools, query)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(histories, tools, words)
def test_any_of_many_histories_is_one_right_line(tmp_path_factory, messages, tools, query):
    assert_one_right_line(tmp_path_factory, messages, tools, query)


def assert_one_right_line(tmp_path_factory, messages, tools, query):
    path = tmp_path_factory.mktemp("out") / "out.jsonl"
    conversation = to_sharegpt(messages, tools, query)
    save_trajectory(conversation, "m\ud800", True, path)
    lines = path.read_bytes().split(b"\n")
    assert [len(lines), lines[1]] == [2, b""]
    assert json.loads(lines[0])["conversations"] == conversation
    assert list(find_faults([lines[0] + b"\n"])) == []


@settings(max_examples=60, deadline=None)
@given(words, words)
def test_what_is_said_in_words_is_never_read_as_a_call(text, reasoning):
    [_, _, turn] = to_sharegpt(
        [{"role": "user", "content": "q"}, {"role": "assistant", "content": text, "reasoning": reasoning}], None
    )
    assert "<tool_call>" not in turn["value"]
    assert "</tool_call>" not in turn["value"]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(words, values, max_size=3))
def test_arguments_come_back_as_they_were(arguments):
    call = {"id": "a", "type": "function", "function": {"name": "t", "arguments": json.dumps(arguments)}}
    turns = to_sharegpt([{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [call]}], None)
    [block] = json_blocks(turns[2]["value"], "tool_call")
    assert block.problem == ""
    assert block.value["arguments"] == (as_read(arguments) if is_strict(arguments) else {})


def as_read(arguments):
    """The arguments as their JSON says them, without lone surrogates."""
    return json.loads(clean(json.dumps(json.loads(json.dumps(arguments)), ensure_ascii=False)))


def is_strict(value):
    match value:
        case float():
            return math.isfinite(value)
        case int():
            return True
        case dict():
            return all(map(is_strict, value.values()))
        case list():
            return all(map(is_strict, value))
        case _:
            return True


@pytest.mark.parametrize("depth", [DEEPEST - 2, DEEPEST, 500, 5_000, 200_000])
def test_nesting_beyond_reason_costs_only_what_is_nested(depth, caplog):
    nested = "[" * depth + "]" * depth
    call = {"id": "a", "function": {"name": "t", "arguments": '{"a": ' + nested + "}"}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": nested},
    ]
    turns = to_sharegpt(messages, None)
    [asked] = json_blocks(turns[2]["value"], "tool_call")
    [told] = json_blocks(turns[3]["value"], "tool_response")
    assert (asked.problem, told.problem) == ("", "")
    assert bool(asked.value["arguments"]) == (depth < DEEPEST)
    assert isinstance(told.value["content"], str) == (depth >= DEEPEST)
    assert ("no usable JSON object" in caplog.text) == (depth >= DEEPEST)


def test_what_a_host_hands_in_that_is_no_json_is_kept_as_text():
    circle: list[object] = []
    circle.append(circle)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    contents = [{"v": math.nan}, {"v": object}, circle, deep, 10**5000, {1, 2}, b"bytes", math.inf]
    for content in contents:
        messages = [
            {"role": "user", "content": content},
            {"role": "assistant", "content": content, "reasoning": content, "tool_calls": [{"id": content}]},
            {"role": "tool", "tool_call_id": content, "content": content},
        ]
        turns = to_sharegpt(messages, None)
        [told] = json_blocks(turns[3]["value"], "tool_response")
        assert (told.problem, type(told.value["content"])) == ("", str)
