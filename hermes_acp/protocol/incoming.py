"""The editor's requests, from the moment their line is read until they are answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.errors import (
    RpcError,
    cancelled,
    from_exception,
    from_validation,
    internal_error,
    invalid_params,
    invalid_request,
)
from hermes_acp.protocol.jsonrpc import Id, Request, is_id
from hermes_acp.protocol.routes import Call, Route, Routes
from hermes_acp.protocol.routing import Outcome, Router

Send = Callable[[dict[str, Any]], None]

MOST_OPEN = 1000
"""Short requests that may be open at a time; those that cancel themselves may wait for the editor, and are not
counted."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Open:
    call: Call[Any]
    task: asyncio.Task[None]
    cancels_itself: bool


class Incoming:
    """The open requests of the editor; each is a task, and each is answered exactly once."""

    def __init__(self, routes: Routes, send: Send) -> None:
        self._routes = routes.requests
        self._router = Router(self._routes.values())
        self._send = send
        self._open: dict[Id, _Open] = {}
        self._short: set[asyncio.Task[None]] = set()
        self._thinned = asyncio.Event()

    def receive(self, request: Request, app: Any) -> bool:
        """Take a request that was just read; whether its method exists and its params are in order."""
        if request.id in self._open:
            self.refuse(request.id, invalid_request("a request with this id is still open"))
            return False
        route = self._routes.get(request.method)
        call = Call(app, request.id, request.method)
        outcome = _check(route, call, request.params) if route else invalid_request("no such method")
        task = asyncio.create_task(self._serve(call, request, outcome), name=f"{request.method} {request.id}")
        self._open[request.id] = _Open(call, task, route is not None and route.cancels_itself)
        task.add_done_callback(lambda _: self._close(call))
        if not self._open[request.id].cancels_itself:
            self._count(task)
        return not isinstance(outcome, RpcError)

    @property
    def crowded(self) -> bool:
        """Whether more requests are open than should be."""
        return len(self._short) > MOST_OPEN

    async def thinned(self) -> None:
        """Wait until most of the open requests are answered."""
        if self.crowded:
            self._thinned.clear()
            await self._thinned.wait()

    def refuse(self, id_: Id, error: RpcError) -> None:
        """Answer something that never became an open request."""
        self._send({"jsonrpc": "2.0", "id": id_, "error": error.to_dict()})

    def cancel(self, id_: Any) -> None:
        """The editor's `$/cancel_request`. An id that is not open is ignored."""
        found = self._open.get(id_) if is_id(id_) else None
        if found is None:
            return
        try:
            found.call.cancel()
        except Exception:
            _log.exception("cancelling %s failed", found.call.method)
        if not (found.cancels_itself or found.call.committed):
            found.task.cancel()

    async def finish(self, timeout: float, *, long_ones: bool) -> None:
        """Wait up to `timeout` seconds for the open requests; without `long_ones`, not for those that
        cancel themselves."""
        tasks = [entry.task for entry in self._open.values() if long_ones or not entry.cancels_itself]
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)

    def cancel_all(self) -> None:
        """Cancel the tasks of all requests that are still open."""
        for entry in list(self._open.values()):
            entry.task.cancel()

    async def _serve(self, call: Call[Any], request: Request, outcome: Outcome) -> None:
        try:
            result = await self._router.answer(call, request, outcome)
        except RpcError as error:
            self._answer(call, error=error.to_dict())
        else:
            self._succeed(call, result)

    def _succeed(self, call: Call[Any], result: dict[str, Any]) -> None:
        try:
            self._answer(call, result=result)
        except (TypeError, ValueError, RecursionError):
            _log.exception("the result of %s cannot be written as JSON", call.method)
            self._answer(call, error=internal_error("Internal error").to_dict())
            return
        try:
            call.run_followers()
        except Exception:
            _log.exception("what follows the answer of %s failed", call.method)

    def _count(self, task: asyncio.Task[None]) -> None:
        self._short.add(task)
        task.add_done_callback(self._uncount)

    def _uncount(self, task: asyncio.Task[None]) -> None:
        self._short.discard(task)
        if len(self._short) <= MOST_OPEN // 2:
            self._thinned.set()

    def _answer(self, call: Call[Any], **member: Any) -> None:
        self._send({"jsonrpc": "2.0", "id": call.id, **member})
        self._open.pop(call.id, None)

    def _close(self, call: Call[Any]) -> None:
        """The task is over. If it did not come to answer (it was cancelled, perhaps before it began, or
        has a fault) the request is answered here."""
        if (found := self._open.get(call.id)) is None or found.call is not call:
            return
        fault = None if found.task.cancelled() else found.task.exception()
        if isinstance(fault, Exception):
            self._answer(call, error=from_exception(fault).to_dict())
        else:
            self._answer(call, error=cancelled().to_dict())


def _check(route: Route, call: Call[Any], params: Any) -> Outcome:
    """The checked params, after the route has been told of them."""
    if not isinstance(params, dict):
        return invalid_params("params: must be an object")
    try:
        checked = route.params.model_validate(params)
        if route.received is not None:
            route.received(call, checked)
    except ValidationError as error:
        return from_validation(error)
    except Exception as error:
        return from_exception(error)
    return checked
