"""Whatever the lines are, each is answered as it should be and the next one is served."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.protocol.line_reader import MAX_LINE
from tests.support.routes import CANCEL, ENTRIES
from tests.support.wire import open_wire, request

BAD_LINES: list[tuple[bytes, int]] = [
    (b"hello", -32700),
    (b"42", -32600),
    (b"[]", -32600),
    (b'{"a":1}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"meth', -32700),
    (b"\xff\xfe\x00", -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":NaN}}', -32700),
    (b"[" * 200_000, -32700),
    (b'{"a":' * 200_000, -32700),
]


@pytest.mark.parametrize(("line", "code"), BAD_LINES)
async def test_a_bad_line_is_answered_without_an_id_and_the_next_is_served(line: bytes, code: int) -> None:
    async with open_wire(ENTRIES) as wire:
        await asyncio.to_thread(wire.send_raw, line + b"\n")
        answer = await wire.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert "result" in await wire.ask("echo")


async def test_blank_lines_marks_and_carriage_returns_are_taken() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send_raw(b'\n\r\n  \n\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"echo"}\r\n')
        assert (await wire.receive())["id"] == 1


async def test_a_line_over_the_limit_is_one_error_with_its_id_and_the_next_is_served() -> None:
    async with open_wire(ENTRIES) as wire:
        await asyncio.to_thread(wire.send_raw, b'{"jsonrpc":"2.0","id":4,"method":"echo","params":{"a":"')
        await asyncio.to_thread(wire.send_raw, b"x" * MAX_LINE + b'"}}\n')
        answer = await wire.receive()
        assert (answer["id"], answer["error"]["code"]) == (4, -32600)
        assert "result" in await wire.ask("echo")


async def test_a_long_line_below_the_limit_is_served() -> None:
    async with open_wire(ENTRIES) as wire:
        text = "ü" * 4_000_000
        line = json.dumps(request(1, "echo", {"text": text})).encode() + b"\n"
        await asyncio.to_thread(wire.send_raw, line)
        assert (await wire.receive())["result"]["echo"]["text"] == text


async def test_leftover_bytes_come_before_what_is_read() -> None:
    whole = json.dumps(request(1, "echo", {"first": 1})).encode() + b'\n{"jsonrpc":"2.0",'
    async with open_wire(ENTRIES, leftover=whole) as wire:
        wire.send_raw(b'"id":2,"method":"echo"}\n')
        assert [(await wire.receive())["id"] for _ in range(2)] == [1, 2]


line = st.one_of(
    st.sampled_from([bad for bad, _ in BAD_LINES if len(bad) < 1000]),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b" ")),
    st.builds(
        lambda method, params: json.dumps({"jsonrpc": "2.0", "id": "?", "method": method, "params": params}).encode(),
        st.sampled_from(["echo", "cwd", "refuse", "sleep", "nothing", "note", CANCEL]),
        st.none() | st.integers() | st.dictionaries(st.sampled_from(["cwd", "requestId", "x"]), st.text(max_size=3)),
    ),
    st.builds(
        lambda method, params: json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode(),
        st.sampled_from(["note", CANCEL, "session/cancel", "$/x", "y"]),
        st.none() | st.dictionaries(st.sampled_from(["requestId", "sessionId"]), st.integers(0, 20)),
    ),
    st.builds(
        lambda id_, member: json.dumps({"jsonrpc": "2.0", "id": id_, member: 1}).encode(),
        st.integers(-1, 5),
        st.sampled_from(["result", "error"]),
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(line, max_size=30))
def test_no_storm_of_lines_breaks_the_connection_or_leaves_a_request_without_its_one_answer(storm: list[bytes]) -> None:
    """Each line that is a request gets an id of its own here."""

    async def play() -> None:
        async with open_wire(ENTRIES) as wire:
            lines = [text.replace(b'"?"', b"%d" % (1000 + number)) for number, text in enumerate(storm)]
            asked = {1000 + number for number, text in enumerate(storm) if b'"?"' in text}
            wire.send_raw(b"".join(text + b"\n" for text in lines))
            wire.send(request("last", "echo"))
            answered = [message["id"] for message in await wire.rest() if "id" in message]
            ours = [id_ for id_ in answered if isinstance(id_, int) and id_ >= 1000]
            assert sorted(ours) == sorted(asked)
            assert answered.count("last") == 1

    asyncio.run(play())
