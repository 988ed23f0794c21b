"""JSON-RPC errors: their codes, how they are made, and which of our exceptions becomes which."""

from __future__ import annotations

import logging
from typing import Any

from pydantic import ValidationError

from hermes_acp.errors import CredentialsMissing, HermesError, ProviderError, SessionDeleted, SessionNotFound

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002

_MOST_REASONS = 3
_log = logging.getLogger(__name__)


class _Coded(Exception):
    """What an error says over the wire; `data` is None when there is none (JSON-RPC 2.0, section 5.1)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RpcError(_Coded):
    """A request is answered with this error."""

    def to_dict(self) -> dict[str, Any]:
        """The `error` member of the answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class RemoteError(_Coded):
    """The editor answered one of our requests with an error."""


class Disconnected(ConnectionError):
    """The editor went away before it answered, or is no longer there to be asked."""


def parse_error(reason: str) -> RpcError:
    """A line that is not JSON."""
    return RpcError(PARSE_ERROR, f"Parse error: {reason}")


def invalid_request(reason: str) -> RpcError:
    """JSON that is not a request, or one that is not in order now."""
    return RpcError(INVALID_REQUEST, f"Invalid request: {reason}")


def invalid_params(reason: str) -> RpcError:
    """Parameters that are malformed or not supported; `reason` reads "field: what is wrong"."""
    return RpcError(INVALID_PARAMS, f"Invalid params: {reason}")


def session_not_found(session_id: str) -> RpcError:
    """A session that does not exist or is not open on this connection (ACP: error handling)."""
    return RpcError(NOT_FOUND, f"Session not found: {session_id}", {"sessionId": session_id})


def auth_required(hint: str) -> RpcError:
    """Nothing is configured that could answer; `hint` says what to do about it."""
    return RpcError(AUTH_REQUIRED, f"Authentication required: {hint}")


def cancelled() -> RpcError:
    """The request was cancelled, by the editor or by us."""
    return RpcError(CANCELLED, "Request cancelled")


def internal_error(reason: str, data: Any = None) -> RpcError:
    """A failure of ours with a reason that is fit for a person."""
    return RpcError(INTERNAL_ERROR, reason, data)


def from_exception(error: Exception) -> RpcError:
    """The error a request is answered with. The text of an exception that nobody foresaw is logged and
    never sent: it may hold anything."""
    match error:
        case RpcError():
            return error
        case ValidationError():
            return from_validation(error)
        case SessionNotFound():
            return session_not_found(error.session_id)
        case SessionDeleted():
            return RpcError(NOT_FOUND, str(error), {"sessionId": error.session_id})
        case CredentialsMissing():
            return auth_required(str(error))
        case ProviderError():
            return internal_error(str(error), {"kind": error.kind, "status": error.status})
        case HermesError():
            return internal_error(str(error))
        case RemoteError() | Disconnected():
            return internal_error(f"The editor did not answer as needed: {error}")
    _log.error("unexpected failure", exc_info=error)
    return internal_error("Internal error")


def from_validation(error: ValidationError) -> RpcError:
    """The first few faults, each as "field: reason", without the values that were sent."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    reasons = [f"{_field(fault['loc'])}: {_reason(fault['msg'])}" for fault in faults[:_MOST_REASONS]]
    return invalid_params("; ".join(reasons))


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "params"


def _reason(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return text[:1].lower() + text[1:]
