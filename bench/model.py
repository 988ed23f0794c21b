"""A model server without any delay of its own: what it says is told by a marker in the newest prompt. In the Messages
and the Responses API it says text only.

`[[{"tokens": 10000}]]` in a prompt asks for that many deltas, `rounds` for replies that call a tool first,
`tool` and `arguments` for which; `delay` waits before the first byte, `stall` stops after so many deltas.
`GET /log` tells when each request was received and when its first and last byte left (CLOCK_MONOTONIC).
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from contextlib import suppress
from typing import Any

from bench.apis import body_of, wire_at
from tests.fakes.replies import Wire

MARKER = re.compile(r"\[\[(\{.*?\})\]\]", re.DOTALL)
LOG: list[dict[str, float]] = []
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def scenario(messages: list[dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """What the newest prompt asks for, and how many replies it has had."""
    replies = 0
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message["content"]
            text = content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
            found = MARKER.search(text)
            return (json.loads(found[1]) if found else {}), replies
        replies += message.get("role") == "assistant"
    return {}, replies


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """One event, in an HTTP chunk of its own."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = b"data: " + json.dumps({"id": "c", "model": "bench", "choices": [choice]}).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(event), event)


def reply(wanted: dict[str, Any], replies: int) -> bytes:
    """The whole body of an answer."""
    if replies < wanted.get("rounds", 0):
        function = {"name": wanted.get("tool", "read_file"), "arguments": json.dumps(wanted["arguments"])}
        call = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function", "function": function}
        deltas, finish = [chunk({"tool_calls": [call]})], "tool_calls"
    else:
        deltas, finish = [chunk({"content": f"word{n % 100} "}) for n in range(wanted.get("tokens", 4))], "stop"
    if "stall" in wanted:
        return b"".join(deltas[: wanted["stall"]])
    return b"".join([*deltas, chunk({}, finish), b"e\r\ndata: [DONE]\n\n\r\n", b"0\r\n\r\n"])


async def answer(body: dict[str, Any], wire: Wire | None, writer: asyncio.StreamWriter) -> None:
    row = {"received": time.monotonic()}
    LOG.append(row)
    wanted, replies = scenario(body.get("messages") or body["input"])
    data = body_of(wire, body, wanted.get("tokens", 4)) if wire else reply(wanted, replies)
    await asyncio.sleep(wanted.get("delay", 0))
    row["first"] = time.monotonic()
    writer.write(HEAD)
    for at in range(0, len(data), 65536):
        writer.write(data[at : at + 65536])
        await writer.drain()
    row["last"] = time.monotonic()
    if "stall" in wanted:
        await asyncio.sleep(3600)


async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = re.search(r"content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            method, path, _ = head.split(" ", 2)
            wire = wire_at(path)
            if method == "post" and (wire or path.endswith("/chat/completions")):
                await answer(json.loads(body), wire, writer)
                continue
            data = json.dumps(LOG if "/log" in head else {"data": []}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data))
            writer.write(data)
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**26)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
