"""What an editor may send that no editor should: bytes, lines, and valid messages with a fault put in."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SURROGATES = st.sampled_from(["\ud83d", "a\ud800b", "\udcff"])
TEXTS = st.text(max_size=20) | SURROGATES | st.sampled_from(["", "\0", "x" * 70_000, "é" * 1000, "../..", "/", "/help"])
NUMBERS = st.sampled_from([0, -1, 1.5, 2**31, 2**63, 10**300, -0.0, 1e308]) | st.integers()
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
GONE = object()
"""In place of a value: the member is not there at all."""


def valid(session: str, project: Path) -> dict[str, Any]:
    """The params of a right message of every method that an editor may call."""
    place = {"cwd": str(project), "mcpServers": []}
    server = {"name": "files", "command": "/bin/true", "args": ["a"], "env": [{"name": "A", "value": "b"}]}
    remote = {"type": "http", "name": "web", "url": "http://127.0.0.1:1/", "headers": [{"name": "a", "value": "b"}]}
    blocks = [
        {"type": "text", "text": "hello"},
        {"type": "resource_link", "name": "a", "uri": f"file://{project}/a.txt"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA", "mimeType": "image/png"}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ]
    return {
        "initialize": {"protocolVersion": 1, "clientCapabilities": {"session": {}}, "clientInfo": {"name": "a"}},
        "authenticate": {"methodId": "credentials"},
        "logout": {},
        "session/new": {**place, "mcpServers": [server, remote], "additionalDirectories": ["/tmp"]},
        "session/load": {"sessionId": session, **place},
        "session/resume": {"sessionId": session, **place, "additionalDirectories": [str(project)]},
        "session/fork": {"sessionId": session, **place},
        "session/list": {"cwd": str(project), "cursor": "WyIyMDI2IiwgImEiXQ=="},
        "session/close": {"sessionId": session},
        "session/delete": {"sessionId": session},
        "session/prompt": {"sessionId": session, "prompt": blocks, "_meta": {"a": 1}},
        "session/set_mode": {"sessionId": session, "modeId": "plan"},
        "session/set_config_option": {"sessionId": session, "configId": "mode", "value": "ask"},
        "session/cancel": {"sessionId": session},
        "$/cancel_request": {"requestId": "fuzz 0"},
    }


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, part in inner for place in places(part, (*here, key)))]


def put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """A copy of the value with another part at a place."""
    changed = copy.deepcopy(value)
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    if new is GONE:
        del parent[place[-1]]
    else:
        parent[place[-1]] = new
    return changed


@st.composite
def broken_messages(draw: st.DrawFn, session: str, project: Path) -> list[dict[str, Any]]:
    """Messages that were right before one to three parts of each were changed. Requests have ids of their own."""
    messages = []
    for number in range(draw(st.integers(1, 6))):
        method, params = draw(st.sampled_from(sorted(valid(session, project).items())))
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if draw(st.integers(0, 9)):
            message["id"] = f"fuzz {number}"
        for _ in range(draw(st.integers(0, 3))):
            within = [place for place in places(message) if place[:1] == ("params",)]
            if within:
                message = put(message, draw(st.sampled_from(within)), draw(VALUES | st.just(GONE)))
        messages.append(message)
    return messages


def line(message: Any) -> bytes:
    """A message as a line, lone surrogates as the escapes that JSON has for them."""
    return json.dumps(message).encode() + b"\n"


@st.composite
def broken_lines(draw: st.DrawFn, session: str, project: Path) -> bytes:
    """Bytes that are nearly lines of the protocol: cut, doubled, joined, with bytes changed and put in."""
    messages = draw(broken_messages(session, project))
    data = bytearray(
        b"".join(
            json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for message in messages
        )
    )
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 20))
        data[place : place + length] = draw(
            st.binary(max_size=10) | st.sampled_from([b"\n", b"\xe2\x82", b"\xff", b"\0", b'"', b"}{", b"\r"])
        )
    return bytes(data)
