"""Reads what the program of an MCP server writes: a message a line, and what can be saved of a line that is none."""

from __future__ import annotations

import json
import re
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage

from hermes_acp.text import clean

_ID = re.compile(r'"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")')
_IS_ANSWER = re.compile(r'"(?:result|error)"\s*:')
_UNREADABLE = "The answer cannot be read by the rules of the protocol."


def read_message(line: bytes) -> SessionMessage | Exception:
    """The message of a line. One that answers a call and cannot be read becomes an error for that call: nobody is to
    wait for an answer that has come. Any other line is an exception; servers write what they like."""
    try:
        return _message(line)
    except ValueError:
        text = line.decode("utf-8", "replace")
    try:
        return _message(_mended(text))
    except (ValueError, RecursionError):
        return _refusal(text) or ValueError("a line that is no message")


def _message(line: str | bytes) -> SessionMessage:
    return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))


def _mended(text: str) -> str:
    """The same JSON without what Python's own reader takes and the strict one does not: half surrogate pairs."""
    return clean(json.dumps(json.loads(text), ensure_ascii=False))


def _refusal(text: str) -> SessionMessage | None:
    found = _ID.search(text) if text.lstrip().startswith("{") and '"jsonrpc"' in text else None
    if found is None or not _IS_ANSWER.search(text):
        return None
    number: Any = json.loads(found[1])
    error = types.ErrorData(code=types.PARSE_ERROR, message=_UNREADABLE)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=number, error=error))
