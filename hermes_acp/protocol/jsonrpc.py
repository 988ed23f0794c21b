"""JSON-RPC 2.0 messages as values: what a line says, and the line that says it."""

from __future__ import annotations

import json
import re
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.errors import INTERNAL_ERROR, RpcError, invalid_request, parse_error
from hermes_acp.text import clean

Id = int | str | None


@dataclass(frozen=True, slots=True)
class Request:
    """Something that wants exactly one answer. `params` is whatever was sent, {} when nothing was."""

    id: Id
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """Something that is never answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to one of our requests: a result, or an error. `empty`: it holds neither member."""

    id: Id
    result: Any = None
    error: Any = None
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Invalid:
    """A line that is none of these; `id` is null when it could not be told."""

    id: Id
    error: RpcError


Message = Request | Notification | Response | Invalid

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_HEAD_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[ !#-\[\]-~]*")')
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def parse(line: bytes) -> Message:
    """What a line says. Never raises: a fault is an `Invalid`."""
    try:
        message = _loads(line)
    except RecursionError:
        return Invalid(None, parse_error("nested too deeply"))
    except ValueError as error:
        return Invalid(None, parse_error(_fault(error)))
    if not isinstance(message, dict):
        return Invalid(None, invalid_request("a message must be an object"))
    if "method" in message:
        return _call(message)
    return _response(message)


def parse_head(head: bytes) -> Message:
    """What can be told of a line that was too long to be kept, from its first bytes."""
    envelope = re.split(rb'"(?:params|result)"\s*:', head, maxsplit=1)[0]
    found = _HEAD_ID.search(envelope)
    id_ = json.loads(found[1]) if found else None
    if found and b'"method"' not in envelope:
        return Response(id_, error={"code": INTERNAL_ERROR, "message": "the answer is too long"})
    return Invalid(id_, invalid_request("the line is too long"))


def is_id(value: Any) -> bool:
    """Whether this can be the id of a request (ACP: RequestId)."""
    return value is None or (isinstance(value, int | str) and not isinstance(value, bool))


def encode(message: dict[str, Any]) -> bytes:
    """The line of a message, with its newline.

    Characters that some readers take for the end of a line are escaped, lone surrogates are replaced.

    Raises:
        ValueError: the message holds NaN or an infinity, or refers to itself.
        TypeError: it holds something that JSON has no form for.
    """
    text = _ENCODER.encode(message)
    if text.isascii():
        return text.encode() + b"\n"
    for character, escape in _LINE_ENDS.items():
        text = text.replace(character, escape)
    return clean(text).encode() + b"\n"


def _loads(line: bytes) -> Any:
    message = _DECODER.decode(line.decode())
    if _SURROGATE_ESCAPE.search(line):
        return json.loads(clean(json.dumps(message, ensure_ascii=False)))
    return message


def _fault(error: ValueError) -> str:
    """The reason without the text that was sent."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    return str(error)


def _call(message: dict[str, Any]) -> Message:
    id_ = message.get("id")
    if not is_id(id_):
        return Invalid(None, invalid_request("id must be a string, an integer or null"))
    if message.get("jsonrpc") != "2.0":
        return Invalid(id_, invalid_request('jsonrpc must be "2.0"'))
    method = message["method"]
    if not isinstance(method, str):
        return Invalid(id_, invalid_request("method must be a string"))
    params = message.get("params")
    params = {} if params is None else params
    return Request(id_, method, params) if "id" in message else Notification(method, params)


def _response(message: dict[str, Any]) -> Message:
    id_ = message.get("id")
    if "id" not in message or not is_id(id_):
        return Invalid(None, invalid_request("a message needs a method or an id"))
    empty = "result" not in message and "error" not in message
    return Response(id_, message.get("result"), message.get("error"), empty)
