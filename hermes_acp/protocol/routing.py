"""Routing of requests by jsonrpcserver: the only file that knows that library.

Its dispatcher is used without the package's own `__init__`, which would also import an HTTP server and a
JSON Schema validator (70 ms of processor time) that have no part here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import sys
from collections.abc import Callable, Coroutine, Iterable
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.errors import RpcError, from_exception, internal_error
from hermes_acp.protocol.jsonrpc import Request
from hermes_acp.protocol.routes import Call, Route

_PACKAGE = "jsonrpcserver"
_SERVER_ERROR = (-32000, "Server error")

_log = logging.getLogger(__name__)


def _import_dispatcher() -> tuple[Any, Any, Any]:
    """The dispatcher of the async mode, and the two makers of its results."""
    known = sys.modules.get(_PACKAGE)
    if known is None:
        spec = importlib.util.find_spec(_PACKAGE)
        bare = ModuleType(_PACKAGE)
        bare.__path__ = list(spec.submodule_search_locations or ()) if spec else []
        sys.modules[_PACKAGE] = bare
    try:
        from jsonrpcserver.async_dispatcher import dispatch_to_response_pure
        from jsonrpcserver.result import Error, Success
    finally:
        if known is None:
            del sys.modules[_PACKAGE]
    return dispatch_to_response_pure, Error, Success


_dispatch, _error, _success = _import_dispatcher()

Outcome = BaseModel | RpcError
"""The checked params of a request, or why they were refused."""


class Router:
    """A table of methods, and the way of a request through it."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._methods = {route.name: _method(route) for route in routes}

    async def answer(self, call: Call[Any], request: Request, outcome: Outcome) -> dict[str, Any]:
        """The result of the request's method. A cancel that comes when the method has ended is too late.

        Raises:
            RpcError: the method does not exist, refused the request, or failed.
        """
        params = request.params if isinstance(request.params, dict) else {}
        message = {"jsonrpc": "2.0", "id": request.id, "method": request.method, "params": params}
        asked = _Asked(call, outcome)
        try:
            response = await _dispatch(
                deserializer=_same,
                validator=_same,
                post_process=_same,
                methods=self._methods,
                context=asked,
                request=message,
            )
        except asyncio.CancelledError:
            if asked.result is None:
                raise
            return asked.result
        return _result(response)


@dataclass(slots=True)
class _Asked:
    """A request on its way through the library, which waits once more after the method: `result` is there before
    that. What the method has done stands then, so it has to be told."""

    call: Call[Any]
    outcome: Outcome
    result: dict[str, Any] | None = None


def _method(route: Route) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The route as the library calls it. The params are taken as keywords, whatever they are named, and
    no exception gets out: the library would send its text to the editor."""

    async def run(asked: _Asked, /, **params: Any) -> Any:
        if isinstance(asked.outcome, RpcError):
            return _refusal(asked.outcome)
        try:
            asked.result = await route.handle(asked.call, asked.outcome)
        except Exception as error:
            return _refusal(from_exception(error))
        return _success(asked.result)

    return run


def _refusal(error: RpcError) -> Any:
    if error.data is None:
        return _error(error.code, error.message)
    return _error(error.code, error.message, error.data)


def _result(response: Any) -> dict[str, Any]:
    failure = getattr(response, "_error", None)
    if failure is None:
        result: dict[str, Any] = response._value.result
        return result
    if (failure.code, failure.message) == _SERVER_ERROR:
        raise internal_error("Internal error")
    data = failure.data if _is_json(failure.data) else None
    raise RpcError(failure.code, failure.message, data)


def _is_json(data: Any) -> bool:
    """Whether there are data: the library marks their absence by an object of its own."""
    return isinstance(data, str | int | float | dict | list)


def _same(value: Any) -> Any:
    return value
