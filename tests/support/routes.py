"""Small routes for a peer: they answer, sleep, fail, refuse and take notes."""

from __future__ import annotations

import asyncio
from typing import Any

from hermes_acp.errors import SessionNotFound
from hermes_acp.protocol.errors import auth_required
from hermes_acp.protocol.inbound import NewSessionParams, Params, SessionParams
from hermes_acp.protocol.peer import Call, Listener, Route
from tests.support.wire import SmallApp, Wire

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
