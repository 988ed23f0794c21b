"""Messages and lines: no line raises, no message is more than one line."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol.jsonrpc import Invalid, Notification, Request, Response, encode, parse, parse_head

surrogates = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
texts = st.text(st.one_of(st.characters(), surrogates, st.sampled_from("\u2028\u2029\x85\r\n\x1c")))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def replaced(value: Any) -> Any:
    """The value with lone surrogates replaced, by another way than the one under test."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [replaced(item) for item in value]
    if isinstance(value, dict):
        return {replaced(name): replaced(item) for name, item in value.items()}
    return value


def halves_replaced(value: Any) -> Any:
    """The value with every surrogate replaced: in a Python text each of them is a lone one."""
    if isinstance(value, str):
        return "".join("\ufffd" if 0xD800 <= ord(character) < 0xE000 else character for character in value)
    if isinstance(value, list):
        return [halves_replaced(item) for item in value]
    if isinstance(value, dict):
        return {halves_replaced(name): halves_replaced(item) for name, item in value.items()}
    return value


def line_of(message: Any) -> bytes:
    return json.dumps(message).encode()


def code_of(line: bytes) -> int:
    message = parse(line)
    assert isinstance(message, Invalid)
    return message.error.code


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    assert isinstance(parse(line), Request | Notification | Response | Invalid)


@given(st.binary(max_size=200))
def test_no_head_of_a_long_line_raises(head: bytes) -> None:
    assert isinstance(parse_head(head), Response | Invalid)


@given(values)
def test_any_json_is_some_message(value: Any) -> None:
    assert isinstance(parse(line_of(value)), Request | Notification | Response | Invalid)


@given(st.dictionaries(texts, values, max_size=3))
def test_params_arrive_as_they_were_sent_but_for_lone_surrogates(params: dict[str, Any]) -> None:
    message = parse(line_of({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}))
    assert isinstance(message, Request)
    assert message.params == replaced(params)


@given(st.dictionaries(texts, values, max_size=3))
def test_a_message_is_one_line_of_utf8_that_says_the_same(message: dict[str, Any]) -> None:
    line = encode(message)
    assert line.decode().splitlines() == [line.decode()[:-1]]
    assert json.loads(line) == halves_replaced(message)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_json_are_never_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"value": value})


def test_a_pair_of_surrogate_escapes_is_one_character_and_a_half_is_replaced() -> None:
    message = parse(rb'{"jsonrpc":"2.0","method":"m","params":{"pair":"\ud83d\udca1","half":"\uD83d!"}}')
    assert isinstance(message, Notification)
    assert message.params == {"pair": "💡", "half": "\ufffd!"}


@pytest.mark.parametrize(
    "line",
    [b"hello", b"{", b'{"a":1', b"\xff\xfe", b'{"a":NaN}', b'{"a":Infinity}', b"1" * 5000, b"[" * 100_000, b"\0"],
)
def test_a_line_that_is_not_json_is_a_parse_error_without_an_id(line: bytes) -> None:
    message = parse(line)
    assert isinstance(message, Invalid)
    assert (message.id, message.error.code) == (None, -32700)


@pytest.mark.parametrize(
    "message",
    [
        42,
        "x",
        None,
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "m"}],
        {"a": 1},
        {"jsonrpc": "2.0"},
        {"id": 1, "method": "m"},
        {"jsonrpc": "1.0", "id": 1, "method": "m"},
        {"jsonrpc": 2.0, "id": 1, "method": "m"},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": True, "method": "m"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "m"},
        {"jsonrpc": "2.0", "id": {}, "method": "m"},
        {"jsonrpc": "2.0", "method": None},
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(message: Any) -> None:
    assert code_of(line_of(message)) == -32600


def test_an_invalid_request_keeps_the_id_that_can_be_told() -> None:
    message = parse(b'{"id":"seven","method":"m"}')
    assert isinstance(message, Invalid)
    assert message.id == "seven"


def test_the_reason_of_a_parse_error_does_not_repeat_the_line() -> None:
    message = parse(b'{"key":"sk-secret"')
    assert isinstance(message, Invalid)
    assert "sk-secret" not in str(message.error)


@pytest.mark.parametrize("id_", [0, -1, 10**30, "", "s-1", None])
def test_an_id_stays_what_it_is(id_: Any) -> None:
    assert parse(line_of({"jsonrpc": "2.0", "id": id_, "method": "m"})) == Request(id_, "m", {})


def test_absent_and_null_params_are_an_empty_object() -> None:
    assert parse(b'{"jsonrpc":"2.0","method":"m"}') == Notification("m", {})
    assert parse(b'{"jsonrpc":"2.0","method":"m","params":null}') == Notification("m", {})


def test_an_answer_may_hold_null_or_nothing() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(1)
    assert parse(b'{"jsonrpc":"2.0","id":1}') == Response(1, empty=True)
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":2,"error":null}') == Response(1, 2)


def test_a_long_request_is_refused_by_its_id_and_a_long_answer_fails_by_its_own() -> None:
    refused = parse_head(b'{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"id":9,"prompt":"xxxx')
    assert isinstance(refused, Invalid)
    assert (refused.id, refused.error.code) == ("a", -32600)
    failed = parse_head(b'{"jsonrpc":"2.0","id":12,"result":{"content":"xxxx')
    assert isinstance(failed, Response)
    assert (failed.id, failed.error["code"]) == (12, -32603)


def test_the_id_of_a_long_line_is_never_taken_from_its_params() -> None:
    unknown = parse_head(b'{"jsonrpc":"2.0","method":"session/prompt","params":{"id":9,"prompt":"xxxx')
    assert isinstance(unknown, Invalid)
    assert unknown.id is None
