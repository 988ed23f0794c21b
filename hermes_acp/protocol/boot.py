"""The first thing that runs for an editor: the wire is put aside and `initialize` answered.

Only `os`, `sys` and `json` are imported before that answer is out; everything else comes after it.
"""

from __future__ import annotations

import gc
import json
import os
import sys

from hermes_acp.protocol.booted import Booted
from hermes_acp.protocol.initialize import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_GREETING = 1024 * 1024
"""A first line longer than this is left to the peer."""

_CHUNK = 65536

_WAITING = b"""hermes-acp: waiting for an editor, which sends JSON-RPC here, a message a line. Ctrl-D ends it.
To talk with the agent yourself: hermes-acp-agent --help
"""
"""For a person who has started it in a terminal."""


def run(argv: list[str]) -> int:
    """Serve an editor on standard input and output until it goes away; the process's exit status."""
    if sys.stdin is None or sys.stdout is None:
        os.write(2, b"hermes-acp: standard input and output must be open\n")
        return 1
    if os.isatty(0):
        os.write(2, _WAITING)
    booted = Booted(*take_wire(), argv)
    try:
        greet(booted)
    except (BrokenPipeError, ConnectionResetError):
        return 0
    except OSError as error:
        os.write(2, f"hermes-acp: the editor cannot be talked to: {error.strerror}\n".encode())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0 if booted.ended and not booted.leftover else _serve(booted)


def take_wire() -> tuple[int, int]:
    """Move stdin and stdout to descriptors of our own and leave nothing on theirs that reaches the editor.

    Whatever writes to stdout afterwards (a library, a child) reaches stderr; whatever reads stdin finds
    its end.
    """
    if sys.stderr is None:
        _open_stderr()
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return reader, writer


def _open_stderr() -> None:
    fd = os.open(os.devnull, os.O_WRONLY)
    if fd == 2:
        os.set_inheritable(2, True)
    else:
        os.dup2(fd, 2)
        os.close(fd)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def greet(booted: Booted) -> None:
    """Read the first line, and answer it when it is a valid `initialize`; else leave it in `leftover`."""
    data = _read_line(booted)
    line, newline, rest = data.partition(b"\n")
    request = _initialize_request(line) if newline else None
    if request is None:
        booted.leftover = data
        return
    result = answer(request["params"])
    message = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    _write(booted.writer, json.dumps(message, separators=(",", ":")).encode() + b"\n")
    booted.greeting, booted.leftover = request["params"], rest


def _read_line(booted: Booted) -> bytes:
    data = b""
    while b"\n" not in data and len(data) < MAX_GREETING:
        _await_editor(booted)
        chunk = _read(booted.reader)
        if not chunk:
            booted.ended = True
            break
        data += chunk
    return data


def _initialize_request(line: bytes) -> dict[str, Any] | None:
    """The message, when it is a request of `initialize` that can be answered with certainty."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or message.get("method") != "initialize":
        return None
    valid = _is_id(message.get("id")) and _is_params(message.get("params"))
    return message if valid else None


def _is_id(value: object) -> bool:
    """Null is left to the peer, and so are texts that would have to be cleaned."""
    return type(value) is int or (type(value) is str and value.isascii())


def _is_params(value: object) -> bool:
    return isinstance(value, dict) and type(value.get("protocolVersion")) is int and value["protocolVersion"] >= 0


def _await_editor(booted: Booted) -> None:
    """Wait until the editor has said something.

    Raises:
        BrokenPipeError: it has stopped to listen, and would not hear an answer.
    """
    import select

    if not hasattr(select, "poll"):
        return
    wire = select.poll()
    wire.register(booted.reader, select.POLLIN)
    wire.register(booted.writer, 0)
    events = dict(wire.poll())
    if booted.reader not in events and events[booted.writer] & (select.POLLERR | select.POLLHUP):
        raise BrokenPipeError


def _read(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, _CHUNK)
        except BlockingIOError:
            _wait(fd, None)


def _write(fd: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            _wait(None, fd)


def _wait(reader: int | None, writer: int | None) -> None:
    """Wait for a descriptor that its owner has made non-blocking."""
    from select import select

    select([fd for fd in (reader,) if fd is not None], [fd for fd in (writer,) if fd is not None], [])


def _serve(booted: Booted) -> int:
    """Import the agent, without looking for garbage in what stays for good, and hand the wire over."""
    gc.disable()
    from hermes_acp.protocol import garbage, server

    gc.freeze()
    garbage.look_seldom()
    gc.enable()
    return server.serve(booted)
