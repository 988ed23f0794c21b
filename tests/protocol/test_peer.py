"""The peer between two pipes: what is answered, in what order, and what never breaks it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.errors import SessionNotFound
from hermes_acp.protocol.errors import RpcError, auth_required
from hermes_acp.protocol.inbound import NewSessionParams, Params, SessionParams
from hermes_acp.protocol.line_reader import MAX_LINE, LineReader
from hermes_acp.protocol.line_writer import LineWriter
from hermes_acp.protocol.peer import Call, Disconnected, Listener, Peer, RemoteError, Route, Routes
from tests.support.wire import SmallApp, Wire, notification, open_wire, request

CANCEL = "$/cancel_request"


async def echo(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    return {"echo": params.model_extra}


async def sleep(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    try:
        await asyncio.sleep(3600)
    finally:
        call.app.notes.append(f"woken {call.id}")
    return {}


async def cwd(call: Call[SmallApp], params: NewSessionParams) -> dict[str, Any]:
    return {"cwd": params.cwd}


async def fail(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    raise RuntimeError("token sk-secret at /home/me")


async def refuse(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    raise auth_required("set a key")


async def lose(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    raise SessionNotFound("nope")


async def answer_nan(call: Call[SmallApp], params: Params) -> dict[str, Any]:
    call.after(lambda: call.app.notes.append("after"))
    return {"value": float("nan")}


def note(app: SmallApp, params: Params) -> None:
    app.notes.append(params.model_extra)


def stumble(app: SmallApp, params: Params) -> None:
    raise RuntimeError("a fault of ours")


ENTRIES: list[Route | Listener] = [
    Route("initialize", Params, echo),
    Route("echo", Params, echo),
    Route("sleep", Params, sleep),
    Route("cwd", NewSessionParams, cwd),
    Route("fail", Params, fail),
    Route("refuse", Params, refuse),
    Route("lose", Params, lose),
    Route("nan", Params, answer_nan),
    Listener("note", Params, note),
    Listener("stumble", Params, stumble),
    Listener("session/cancel", SessionParams, note),
]


async def codes(wire: Wire, count: int) -> dict[Any, int]:
    """The error codes of the next answers, by id."""
    answers = [await wire.receive() for _ in range(count)]
    return {answer["id"]: answer["error"]["code"] for answer in answers}


async def test_a_request_is_answered_with_its_result() -> None:
    async with open_wire(ENTRIES) as wire:
        answer = await wire.ask("echo", {"a": 1}, id_="s-1")
        assert answer == {"jsonrpc": "2.0", "id": "s-1", "result": {"echo": {"a": 1}}}


@pytest.mark.parametrize("id_", [0, -5, 10**25, "", "7", "日本", None])
async def test_an_id_comes_back_as_it_was(id_: Any) -> None:
    async with open_wire(ENTRIES) as wire:
        answer = await wire.ask("echo", id_=id_)
        assert (answer["id"], type(answer["id"])) == (id_, type(id_))


@pytest.mark.parametrize(
    "params", [{"context": 1, "self": 2, "call": 3, "params": 4}, {"": 1, "a-b": 2, "class": 3}, {"model_dump": 1}]
)
async def test_no_name_of_a_field_collides_with_ours(params: dict[str, Any]) -> None:
    async with open_wire(ENTRIES) as wire:
        assert (await wire.ask("echo", params))["result"] == {"echo": params}


async def test_unknown_requests_are_refused_with_their_id_and_unknown_notifications_ignored() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(notification("_vendor/x"), notification("$/unknown"), notification("session/cancel", {"a": 1}))
        wire.send(request(7, "ping"), request("s-1", "_vendor.x/foo"), request(None, "$/what"), request(8, "note"))
        assert await codes(wire, 4) == {7: -32601, "s-1": -32601, None: -32601, 8: -32601}


async def test_params_must_be_an_object() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "echo", [1]), request(2, "echo", "x"), request(3, "echo", 0), request(4, "echo", False))
        assert await codes(wire, 4) == {1: -32602, 2: -32602, 3: -32602, 4: -32602}
        wire.send(notification("note", [1]), notification("note", "x"), notification("note", {"a": 1}))
        await wire.ask("echo")
        assert wire.app.notes == [{"a": 1}]


async def test_wrong_params_are_refused_by_the_name_of_the_field() -> None:
    async with open_wire(ENTRIES) as wire:
        error = (await wire.ask("cwd", {"cwd": "relative"}))["error"]
        assert error == {"code": -32602, "message": "Invalid params: cwd: must be an absolute path"}


async def test_failures_have_their_codes_and_leak_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.ERROR):
            failed = await wire.ask("fail")
        assert failed["error"] == {"code": -32603, "message": "Internal error"}
        assert (await wire.ask("refuse"))["error"]["code"] == -32000
        assert (await wire.ask("lose"))["error"]["data"] == {"sessionId": "nope"}


async def test_a_result_that_is_not_json_is_an_internal_error_and_nothing_follows_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.CRITICAL):
            assert (await wire.ask("nan"))["error"]["code"] == -32603
        await wire.ask("echo")
        assert wire.app.notes == []


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


async def test_nothing_is_served_before_initialize() -> None:
    async with open_wire(ENTRIES, greeted=False) as wire:
        wire.send(notification("note", {"early": 1}), request(1, "echo"), request(2, "nonsense"))
        assert await codes(wire, 2) == {1: -32600, 2: -32600}
        wire.send(request(3, "initialize"), notification("note", {"late": 1}), request(4, "echo"))
        assert [(await wire.receive())["id"] for _ in range(2)] == [3, 4]
        assert wire.app.notes == [{"late": 1}]


async def test_an_initialize_that_is_refused_opens_nothing() -> None:
    async with open_wire(ENTRIES, greeted=False) as wire:
        wire.send(request(1, "initialize", [1]), request(2, "echo"))
        found = await codes(wire, 2)
        assert found == {1: -32602, 2: -32600}


async def test_an_id_that_is_still_open_cannot_be_used_again() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"), request(1, "echo"), request("1", "echo"))
        answers = [await wire.receive() for _ in range(2)]
        assert {answer["id"]: "error" in answer for answer in answers} == {1: True, "1": False}
        wire.send(notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}
        assert "result" in await wire.ask("echo", id_=1)


async def test_a_failing_listener_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with open_wire(ENTRIES) as wire:
        with caplog.at_level(logging.ERROR):
            wire.send(notification("stumble"), notification("note", {"a": 1}))
            await wire.ask("echo")
        assert wire.app.notes == [{"a": 1}]
        assert "a fault of ours" in caplog.text


async def test_notifications_are_handled_in_the_order_of_the_lines() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(*(notification("note", {"n": number}) for number in range(200)))
        await wire.ask("echo")
        assert [entry["n"] for entry in wire.app.notes] == list(range(200))


async def test_a_cancelled_request_is_answered_once_and_its_work_ends() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"))
        await asyncio.sleep(0.05)
        wire.send(notification(CANCEL, {"requestId": 1}), notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}
        assert wire.app.notes == ["woken 1"]
        assert [line for line in await wire.rest() if "id" in line] == []


async def test_a_request_cancelled_in_the_same_write_is_answered_too() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "echo"), notification(CANCEL, {"requestId": 1}))
        assert await codes(wire, 1) == {1: -32800}


@pytest.mark.parametrize("id_", [2, "1", None, [], {}, 1.0, True])
async def test_cancelling_another_id_cancels_nothing(id_: Any) -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send(request(1, "sleep"), notification(CANCEL, {"requestId": id_}), notification(CANCEL))
        await wire.ask("echo")
        assert wire.app.notes == []


class Turn:
    """A route that registers at the moment its line is read, and cancels itself."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.stop = "end_turn"

    def received(self, call: Call[SmallApp], params: Params) -> None:
        call.app.notes.append(f"received {call.id}")
        call.state = self
        call.on_cancel = self.cancel

    def cancel(self) -> None:
        self.stop = "cancelled"
        self.over.set()

    async def handle(self, call: Call[SmallApp], params: Params) -> dict[str, Any]:
        assert call.state is self
        await self.over.wait()
        return {"stopReason": self.stop, "cancelled": call.cancelled}

    def route(self) -> Route:
        return Route("turn", Params, self.handle, received=self.received, cancels_itself=True)


@pytest.mark.parametrize("together", [True, False])
async def test_a_route_that_cancels_itself_answers_with_a_result(together: bool) -> None:
    async with open_wire([*ENTRIES, Turn().route()]) as wire:
        wire.send(request(1, "turn"), *([notification(CANCEL, {"requestId": 1})] if together else []))
        if not together:
            await wire.ask("echo")
            wire.send(notification(CANCEL, {"requestId": 1}))
        assert (await wire.receive())["result"] == {"stopReason": "cancelled", "cancelled": True}


async def test_what_was_received_is_known_to_the_next_line() -> None:
    async with open_wire([*ENTRIES, Turn().route()]) as wire:
        wire.send(request(1, "turn"), notification("note", {"next": 1}), notification(CANCEL, {"requestId": 1}))
        await wire.receive()
        assert wire.app.notes == ["received 1", {"next": 1}]


async def test_a_request_refused_as_it_is_received_is_answered() -> None:
    def received(call: Call[SmallApp], params: Params) -> None:
        raise SessionNotFound("gone")

    async with open_wire([Route("turn", Params, echo, received=received)]) as wire:
        assert (await wire.ask("turn"))["error"]["code"] == -32002


async def test_what_follows_an_answer_comes_right_after_it() -> None:
    async def handle(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        for number in (1, 2):
            call.after(lambda number=number: wire.peer.notify("_after", {"number": number}))
        wire.peer.notify("_before", {})
        return {}

    async with open_wire([Route("new", Params, handle)]) as wire:
        wire.send(request(1, "new"), request(2, "new"))
        lines = [await wire.receive() for _ in range(8)]
    order = [line.get("id") or (line["method"], line["params"].get("number")) for line in lines]
    for id_ in (1, 2):
        place = order.index(id_)
        assert order[place + 1 : place + 3] == [("_after", 1), ("_after", 2)]


async def test_nothing_follows_an_error() -> None:
    async def handle(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        call.after(lambda: wire.peer.notify("_after", {}))
        raise RpcError(-32602, "no")

    async with open_wire([Route("new", Params, handle)]) as wire:
        assert (await wire.ask("new"))["error"]["code"] == -32602
        assert [line["method"] for line in await wire.rest() if "method" in line] == []


async def test_a_request_of_ours_gets_its_result_whatever_the_order() -> None:
    async with open_wire(ENTRIES) as wire:
        first = asyncio.create_task(wire.peer.request("fs/read_text_file", {"path": "/a"}))
        second = asyncio.create_task(wire.peer.request("fs/read_text_file", {"path": "/b"}))
        one, two = await wire.receive(), await wire.receive()
        assert [one["params"], two["params"]] == [{"path": "/a"}, {"path": "/b"}]
        wire.send(
            {"jsonrpc": "2.0", "id": two["id"], "result": "b"}, {"jsonrpc": "2.0", "id": one["id"], "result": "a"}
        )
        assert await asyncio.gather(first, second) == ["a", "b"]


@pytest.mark.parametrize("member", [{"result": None}, {}, {"result": None, "error": None}])
async def test_an_answer_of_null_or_nothing_is_null(member: dict[str, Any]) -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("fs/write_text_file", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], **member})
        assert await asked is None


@pytest.mark.parametrize(
    ("error", "code"),
    [({"code": -32601, "message": "no", "data": 1}, -32601), ("broken", -32603), ({"code": "x"}, -32603), ([], -32603)],
)
async def test_an_error_of_the_editor_is_raised_however_it_is_shaped(error: Any, code: int) -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("terminal/create", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], "error": error})
        with pytest.raises(RemoteError) as caught:
            await asked
        assert caught.value.code == code


async def test_an_answer_over_the_limit_fails_its_request() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("fs/read_text_file", {}))
        id_ = (await wire.receive())["id"]
        await asyncio.to_thread(wire.send_raw, b'{"jsonrpc":"2.0","id":%d,"result":"' % id_ + b"x" * MAX_LINE + b'"}\n')
        with pytest.raises(RemoteError):
            await asked
        assert "result" in await wire.ask("echo")


async def test_a_request_nobody_waits_for_is_taken_back_and_its_late_answer_ignored() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("session/request_permission", {}))
        id_ = (await wire.receive())["id"]
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await wire.receive() == notification(CANCEL, {"requestId": id_})
        wire.send({"jsonrpc": "2.0", "id": id_, "result": {}}, {"jsonrpc": "2.0", "id": 999, "result": {}})
        assert "result" in await wire.ask("echo")


async def test_an_answered_request_is_not_taken_back() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("_ask", {}))
        wire.send({"jsonrpc": "2.0", "id": (await wire.receive())["id"], "result": 1})
        assert await asked == 1
        asked.cancel()
        assert [line for line in await wire.rest() if line.get("method") == CANCEL] == []


async def test_our_requests_fail_when_the_editor_goes_away_and_so_do_later_ones() -> None:
    async with open_wire(ENTRIES) as wire:
        asked = asyncio.create_task(wire.peer.request("_ask", {}))
        await wire.receive()
        await wire.end()
        with pytest.raises(Disconnected):
            await asked
        with pytest.raises(Disconnected):
            await wire.peer.request("_ask", {})
        wire.peer.notify("_dropped", {})


async def test_a_message_without_method_and_result_that_nobody_waits_for_is_refused() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.send({"jsonrpc": "2.0", "id": 31})
        assert await codes(wire, 1) == {31: -32600}


async def test_the_end_of_input_answers_what_is_open_and_closes_the_application() -> None:
    async with open_wire([*ENTRIES]) as wire:
        wire.send(request(1, "sleep"), request(2, "echo"))
        loop = asyncio.get_running_loop()
        start = loop.time()
        lines = await wire.rest()
        assert {line["id"]: "result" in line for line in lines} == {1: False, 2: True}
        assert wire.app.notes[:2] == ["closing", "closed"]
        assert loop.time() - start < 10


async def test_an_application_that_does_not_close_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with open_wire(ENTRIES, app=SmallApp(closing_takes=60)) as wire:
            await asyncio.wait_for(wire.end(), 1.9)
    assert wire.app.notes == ["closing"]


async def test_a_peer_that_is_closed_ends_like_one_whose_editor_is_gone() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.peer.close()
        assert wire.running is not None
        await asyncio.wait_for(wire.running, 5)
        assert wire.app.notes == ["closing", "closed"]


async def test_an_editor_that_stops_reading_ends_the_connection_though_its_input_is_open() -> None:
    async with open_wire(ENTRIES) as wire:
        wire.stop_reading()
        assert wire.running is not None
        await asyncio.wait_for(wire.running, 1.9)
        assert wire.app.notes == ["closing", "closed"]


async def test_leftover_bytes_come_before_what_is_read() -> None:
    whole = json.dumps(request(1, "echo", {"first": 1})).encode() + b'\n{"jsonrpc":"2.0",'
    async with open_wire(ENTRIES, leftover=whole) as wire:
        wire.send_raw(b'"id":2,"method":"echo"}\n')
        assert [(await wire.receive())["id"] for _ in range(2)] == [1, 2]


async def test_a_slow_editor_gets_every_notification_in_order_and_never_blocks_the_loop() -> None:
    async with open_wire(ENTRIES) as wire:
        for number in range(2000):
            wire.peer.notify("_n", {"number": number, "text": "x" * 500})
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asyncio.sleep(0)
        assert loop.time() - start < 5
        numbers = [(await wire.receive())["params"]["number"] for _ in range(2000)]
        assert numbers == list(range(2000))


async def test_an_editor_that_asks_and_does_not_listen_is_not_read_on_until_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is unsent stays bounded, and every request is answered in the end."""
    monkeypatch.setattr("hermes_acp.protocol.peer.FLOOD", 1024 * 1024)
    padding = {"padding": "x" * 3000}
    async with open_wire(ENTRIES) as wire:
        wire.pause_reading()
        asked = 0
        for _ in range(1500):
            if wire.has_room():
                wire.send(request(asked, "echo", padding))
                asked += 1
            await asyncio.sleep(0.001)
        assert 300 < asked < 600
        wire.resume_reading()
        assert {(await wire.receive())["id"] for _ in range(asked)} == set(range(asked))
        assert "result" in await wire.ask("echo")


async def test_an_editor_that_asks_faster_than_it_can_be_answered_is_not_read_on_until_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Requests that wait for the editor do not count: it must be heard to end them."""
    monkeypatch.setattr("hermes_acp.protocol.incoming.MOST_OPEN", 20)
    gate, begun = asyncio.Event(), []

    async def slow(call: Call[SmallApp], params: Params) -> dict[str, Any]:
        begun.append(call.id)
        await gate.wait()
        return {}

    def cancel_when_told(call: Call[SmallApp], params: Params) -> None:
        call.on_cancel = gate.set

    waiting = Route("waiting", Params, slow, received=cancel_when_told, cancels_itself=True)
    async with open_wire([*ENTRIES, Route("slow", Params, slow), waiting]) as wire:
        wire.send(*(request(f"w{number}", "waiting") for number in range(100)))
        assert "result" in await wire.ask("echo")
        for number in range(100):
            wire.send(request(number, "slow"))
            await asyncio.sleep(0.001)
        assert 20 < len(begun) - 100 < 60
        gate.set()
        answered = [(await wire.receive())["id"] for _ in range(200)]
        assert {*answered} == {*range(100), *(f"w{number}" for number in range(100))}


def test_two_routes_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="echo"):
        Routes([Route("echo", Params, echo), Listener("echo", Params, note)])


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
    st.builds(lambda id_, member: json.dumps({"jsonrpc": "2.0", "id": id_, member: 1}).encode(),
              st.integers(-1, 5), st.sampled_from(["result", "error"])),
)  # fmt: skip


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


async def test_a_wire_of_sockets_and_a_shared_descriptor_works() -> None:
    import socket

    ours, theirs = socket.socketpair()
    peer = Peer(LineReader(ours.fileno()), LineWriter(os.dup(ours.fileno())), Routes(ENTRIES))
    running = asyncio.create_task(peer.run(SmallApp(), greeted=True))
    reader, writer = await asyncio.open_connection(sock=theirs)
    writer.write(json.dumps(request(1, "echo")).encode() + b"\n")
    assert json.loads(await reader.readline())["id"] == 1
    writer.close()
    await asyncio.wait_for(running, 5)
    assert ours.getblocking()
    ours.close()
