"""Small questions to programs on this machine, over HTTP and without a library for it."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

MAX_BYTES = 4 * 1024 * 1024

_LOCAL = ("localhost", "127.0.0.1", "::1")


def is_loopback(url: str) -> bool:
    """Whether this is a plain HTTP address of this machine itself."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname in _LOCAL and parts.port != 0
    except ValueError:
        return False


async def ask(url: str, question: Any = None) -> Any:
    """The JSON that is answered to a GET, or to a POST of a question in JSON; None when there is no such answer.

    As long as the server takes: the caller sets the limit. The old version of the protocol is spoken
    (RFC 1945), so that the answer comes in one piece and ends with the connection.
    """
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80, limit=MAX_BYTES)
    except OSError:
        return None
    try:
        writer.write(_request(parts.netloc, parts.path, question))
        head = await reader.readuntil(b"\r\n\r\n")
        return json.loads(await _body(head, reader)) if head.split(b" ", 2)[1] == b"200" else None
    except (OSError, EOFError, asyncio.LimitOverrunError, ValueError, IndexError, RecursionError):
        return None
    finally:
        writer.transport.abort()


def _request(host: str, path: str, question: Any) -> bytes:
    body = b"" if question is None else json.dumps(question).encode()
    lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.0", f"Host: {host}", "Accept: application/json"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


async def _body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in head.split(b"\r\n"))
    }
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        return await _chunks(reader)
    length = headers.get(b"content-length")
    if length is not None:
        return await reader.readexactly(min(int(length), MAX_BYTES))
    return await _rest(reader)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """The body that a server sends in the way of the newer version all the same (RFC 9112, section 7.1)."""
    data = b""
    while (size := int((await reader.readline()).split(b";")[0], 16)) and len(data) < MAX_BYTES:
        data += await reader.readexactly(min(size, MAX_BYTES))
        await reader.readline()
    return data


async def _rest(reader: asyncio.StreamReader) -> bytes:
    data = b""
    while len(data) < MAX_BYTES and (piece := await reader.read(65536)):
        data += piece
    return data
