"""A model server for tests: real HTTP on loopback, scripted replies, strict about what it is sent.

In a test::

    async with ModelServer() as server:
        server.say("Hello.", Say(calls=[Call("read_file", {"path": "a"})]), fail(503, "busy"))
        ...                       # the base URL is server.url, any model name
        assert server.requests[0].body["messages"]

As a process, `python -m tests.fakes.model_server --tokens 10000` prints one JSON line with its port and
url; `POST /script` with a JSON list of `Say` fields queues replies there, and `/requests` has what came.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.fakes.anthropic_replies import MessagesWire
from tests.fakes.chat_replies import ChatWire, chunk, raw, sse
from tests.fakes.replies import (
    PING_EVERY,
    Call,
    Ending,
    Raw,
    Reply,
    Say,
    Status,
    Wire,
    fail,
    in_time,
    tokens,
)
from tests.fakes.responses_replies import ResponsesWire

__all__ = ["Call", "ModelServer", "Raw", "Received", "Reply", "Say", "Status", "chunk", "fail", "raw", "sse", "tokens"]

SLICE = 256 * 1024
RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Received:
    """A request as it came; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]


class ModelServer:
    """A fake server of every API that the agent speaks, told by the end of the path that is asked.

    A request is answered by the script when one is set and gives a reply, else by the next reply of `say`,
    else by `default`. A request that breaks a rule of strict servers is answered 400 and uses up no reply.

    Attributes:
        models: the names that it lists.
        list_answer: what it says instead of them.
        listed: how often it was asked for them.
        others: what it answers at other paths, in JSON; a function gets the question.
        keys: those that it takes, all when it names none; another is answered 401 and uses up no reply.
        requests: every request of a reply, valid or not, in order of arrival.
        aborted: those whose client hung up before the answer was whole.
        problems: the rules that requests broke; a test of good behaviour asserts that it is empty.
    """

    def __init__(
        self,
        default: Reply | str = "Done.",
        *,
        refused: tuple[str, ...] = (),
        models: tuple[str, ...] = ("fake-model",),
    ) -> None:
        self.default = _reply(default)
        self.refused = refused
        self.models = models
        self.list_answer: Status | None = None
        self.keys: tuple[str, ...] = ()
        self.others: Mapping[str, Any] = {}
        self.listed = 0
        self.requests: list[Received] = []
        self.aborted: list[Received] = []
        self.problems: list[str] = []
        self.connections = 0
        self._wires: tuple[Wire, ...] = (ChatWire(), ResponsesWire(), MessagesWire())
        self._queue: deque[Reply] = deque()
        self._script: Callable[[Any], Reply | str | None] = lambda body: None
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def say(self, *replies: Reply | str) -> None:
        """Queue replies; a string is a reply of that text."""
        self._queue.extend(_reply(reply) for reply in replies)

    def script(self, answer: Callable[[Any], Reply | str | None]) -> None:
        """Let a function of the request's body answer; None leaves it to the queue."""
        self._script = answer

    def forget(self) -> None:
        """Begin anew: nothing was asked, and there is nothing to say but the default."""
        for record in (self.requests, self.aborted, self.problems, self._queue):
            record.clear()
        self._script = lambda body: None

    @property
    def port(self) -> int:
        assert self._server is not None
        return self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def until(self, holds: Callable[[ModelServer], bool], timeout: float = 5.0) -> None:
        """Wait until something holds of this server, such as `lambda s: s.aborted`."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: holds(self))

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=64 * 1024 * 1024)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def note(self, record: list[Any], item: Any) -> None:
        """Add to one of the records, and wake whoever waits for it."""
        async with self._changed:
            record.append(item)
            self._changed.notify_all()

    async def count_listing(self) -> None:
        """Take note that the models were asked for."""
        async with self._changed:
            self.listed += 1
            self._changed.notify_all()

    def wire(self, path: str) -> Wire | None:
        """The API that is spoken at a path."""
        return next((wire for wire in self._wires if path.partition("?")[0].endswith(wire.path)), None)

    def answer(self, received: Received, wire: Wire) -> Reply:
        """The reply to a request: what it did wrong, or what the script says."""
        if self.keys and received.headers.get("authorization", "").removeprefix("Bearer ") not in self.keys:
            return fail(401, "Incorrect API key provided", code="invalid_api_key")
        problem = wire.broken_rule(received.body, self.refused)
        if problem:
            self.problems.append(problem)
            return wire.refusal(problem)
        scripted = self._script(received.body)
        if scripted is not None:
            return _reply(scripted)
        return self._queue.popleft() if self._queue else self.default

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(_Connection(self, reader, writer).serve())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Connection:
    """One client: requests in, answers out, and an eye on whether it is still there."""

    def __init__(self, server: ModelServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.peeked = b""

    async def serve(self) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while not self.writer.is_closing():
                    await self._exchange()
        finally:
            self.writer.close()

    async def _exchange(self) -> None:
        head = self.peeked + await self.reader.readuntil(b"\r\n\r\n")
        self.peeked = b""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        data = await self.reader.readexactly(int(headers.get("content-length", 0)))
        wire = self.server.wire(path)
        if method == "POST" and wire is not None:
            await self._complete(Received(path, headers, _parsed(data)), wire)
        elif method == "POST" and path == "/script":
            self.server.say(*(_from_json(item) for item in json.loads(data)))
            await self._plain(Status(200, {"queued": True}))
        elif method == "GET" and path.partition("?")[0].endswith("/models"):
            await self.server.count_listing()
            answer = self.server.list_answer or Status(200, _models(self.server.models))
            await asyncio.sleep(answer.first_delay)
            await self._plain(answer)
        elif path in self.server.others:
            answer = self.server.others[path]
            await self._plain(Status(200, answer(_parsed(data)) if callable(answer) else answer))
        else:
            await self._plain(fail(404, f"no such address: {method} {path}"))

    async def _complete(self, received: Received, wire: Wire) -> None:
        await self.server.note(self.server.requests, received)
        answering = asyncio.create_task(self._answer(self.server.answer(received, wire), received, wire))
        watching = asyncio.create_task(self.reader.read(1))
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done() and not answering.done():
                self.peeked = watching.result()
                if not self.peeked:
                    raise ConnectionAbortedError
            await answering
        except ConnectionError:
            await self.server.note(self.server.aborted, received)
            raise
        finally:
            self.peeked = self.peeked or await _stopped(watching)
            await _stopped(answering)

    async def _answer(self, reply: Reply, received: Received, wire: Wire) -> None:
        match reply:
            case Status():
                await asyncio.sleep(reply.first_delay)
                await self._plain(reply)
            case Raw():
                await self._stream(_raw_pieces(reply), reply.content_type)
                await self._end(reply.ending, wire)
            case Say():
                await asyncio.sleep(reply.first_delay)
                pieces = wire.pieces(reply, received.body, len(self.server.requests))
                await self._stream(in_time(pieces, reply.token_delay), "text/event-stream")
                await self._end(reply.ending, wire)

    async def _plain(self, answer: Status) -> None:
        headers = {"content-type": answer.content_type, "content-length": str(len(answer.data)), **answer.headers}
        self.writer.write(_head(answer.status, headers) + answer.data)
        await self.writer.drain()

    async def _stream(self, pieces: AsyncIterator[bytes], content_type: str) -> None:
        self.writer.write(_head(200, {"content-type": content_type, "transfer-encoding": "chunked"}))
        async for piece in pieces:
            for at in range(0, len(piece), SLICE):
                self._chunk(piece[at : at + SLICE])
                await self.writer.drain()

    def _chunk(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def _end(self, ending: Ending, wire: Wire) -> None:
        match ending:
            case "finish" | "cut":
                self.writer.write(b"0\r\n\r\n")
                await self.writer.drain()
            case "drop":
                self.writer.close()
            case "reset":
                self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                self.writer.transport.abort()
            case "stall":
                await asyncio.Event().wait()
            case "ping":
                await self._ping(wire)

    async def _ping(self, wire: Wire) -> None:
        while True:
            self._chunk(wire.ping)
            await self.writer.drain()
            await asyncio.sleep(PING_EVERY)


async def _stopped(task: asyncio.Task[Any]) -> Any:
    """Cancel a task that may be over, and wait for it; its result, if it had one."""
    task.cancel()
    with suppress(asyncio.CancelledError, ConnectionError):
        return await task
    return b""


async def _raw_pieces(reply: Raw) -> AsyncIterator[bytes]:
    for piece in reply.pieces:
        yield piece
        await asyncio.sleep(reply.delay)


def _reply(reply: Reply | str) -> Reply:
    return Say(reply) if isinstance(reply, str) else reply


def _from_json(item: Any) -> Reply:
    if isinstance(item, str):
        return Say(item)
    return Say(**{**item, "calls": [Call(**call) for call in item.get("calls", ())]})


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Fake\r\n{lines}\r\n".encode("latin-1")


def _models(names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 1, "owned_by": "fake"} for name in names],
    }


async def _serve(default: Reply) -> None:
    async with ModelServer(default) as server:
        server.others = {"/requests": lambda _: [received.body for received in server.requests]}
        print(json.dumps({"port": server.port, "url": server.url}), flush=True)
        await asyncio.Event().wait()


def main() -> None:
    options = argparse.ArgumentParser(description="A fake model server on loopback.")
    options.add_argument("--tokens", type=int, default=4, help="deltas of text in an answer that no script gives")
    options.add_argument("--token-delay", type=float, default=0.0, help="seconds between them")
    options.add_argument("--first-delay", type=float, default=0.0, help="seconds before the first")
    given = options.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Say(tokens(given.tokens), token_delay=given.token_delay, first_delay=given.first_delay)))


if __name__ == "__main__":
    main()
