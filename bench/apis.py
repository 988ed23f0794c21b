"""The other APIs of the model server: the events of the tests' fake, each in an HTTP chunk of its own."""

from __future__ import annotations

import time
from typing import Any

from tests.fakes.anthropic_replies import MessagesWire
from tests.fakes.replies import Say, Wire
from tests.fakes.responses_replies import ResponsesWire

WIRES: tuple[Wire, ...] = (MessagesWire(), ResponsesWire())


def wire_at(path: str) -> Wire | None:
    """The API that is spoken at a path, if it is one of these."""
    return next((wire for wire in WIRES if path.endswith(wire.path)), None)


def body_of(wire: Wire, request: dict[str, Any], tokens: int) -> bytes:
    """The whole body of an answer of so many deltas of text."""
    say = Say([f"word{number % 100} " for number in range(tokens)])
    pieces = wire.pieces(say, request, time.monotonic_ns())
    told = (piece for piece in (pieces.head, *pieces.deltas, pieces.end) if piece)
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in told) + b"0\r\n\r\n"
