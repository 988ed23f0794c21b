"""One side of a JSON-RPC 2.0 connection: requests and notifications both ways, over lines."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, Protocol

from pydantic import ValidationError

from hermes_acp.protocol.errors import Disconnected, RemoteError, from_validation, invalid_request
from hermes_acp.protocol.incoming import Incoming
from hermes_acp.protocol.jsonrpc import Invalid, Notification, Request, Response, encode, parse, parse_head
from hermes_acp.protocol.line_reader import LineReader, TooLong
from hermes_acp.protocol.line_writer import FLOOD, LineWriter
from hermes_acp.protocol.outgoing import Outgoing
from hermes_acp.protocol.routes import Call, Listener, Route, Routes

__all__ = ["App", "Call", "Disconnected", "Listener", "Peer", "RemoteError", "Route", "Routes"]

GRACE = 0.3
"""Seconds that short requests get to be answered after the editor has closed its side."""

CLOSING = 1.2
"""Seconds that the application gets to close."""

FLUSHING = 0.2
"""Seconds that the last lines get to be taken."""

_log = logging.getLogger(__name__)


class App(Protocol):
    """What the peer runs for."""

    async def closing(self) -> None:
        """The connection has ended: cancel what runs, keep what must be kept. Bounded by `CLOSING`."""


class Peer:
    """The connection to an editor.

    What is sent leaves in the order of the calls. What arrives is handled in the order of the lines:
    notifications at once, requests each as a task (see `Route`).
    """

    def __init__(self, reader: LineReader, writer: LineWriter, routes: Routes) -> None:
        self._reader = reader
        self._writer = writer
        self._listeners = routes.notifications
        self._incoming = Incoming(routes, self._send)
        self._outgoing = Outgoing(self._send)
        self._ended = asyncio.Event()
        self._greeted = False
        self._holding: asyncio.Task[None] | None = None
        self._app: Any = None

    async def run(self, app: App, *, leftover: bytes = b"", greeted: bool = False) -> None:
        """Serve until the editor is gone or `close` is called, then let the application close.

        Args:
            app: given to handlers as `Call.app` and to listeners.
            leftover: bytes that were read from the editor before.
            greeted: whether `initialize` has been answered already.
        """
        self._app, self._greeted = app, greeted
        self._writer.start(self._ended.set)
        self._reader.start(self._take, self._ended.set, leftover)
        try:
            await self._ended.wait()
        finally:
            await self._shut(app)

    def close(self) -> None:
        """End as if the editor had closed its side."""
        self._ended.set()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification. Dropped when the editor is gone.

        Raises:
            ValueError, TypeError: the params cannot be written as JSON.
        """
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the editor, and wait for its result; see `Outgoing.request`."""
        return await self._outgoing.request(method, params)

    async def drained(self) -> None:
        """Wait while the editor reads slower than we write."""
        await self._writer.drained()

    def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(encode(message))

    def _take(self, line: bytes | TooLong) -> None:
        self._take_message(line)
        if self._holding is None and (self._writer.unsent > FLOOD or self._incoming.crowded):
            self._holding = asyncio.create_task(self._hold())

    async def _hold(self) -> None:
        """Read nothing from an editor that asks faster than it listens, or than it can be answered, until that
        has changed."""
        self._reader.pause()
        await self._writer.subsided()
        await self._incoming.thinned()
        self._holding = None
        self._reader.resume()

    def _take_message(self, line: bytes | TooLong) -> None:
        match parse_head(line.head) if isinstance(line, TooLong) else parse(line):
            case Request() as request:
                self._take_request(request)
            case Notification() as notification:
                self._take_notification(notification)
            case Response() as response:
                self._take_response(response)
            case Invalid(id_, error):
                self._incoming.refuse(id_, error)

    def _take_request(self, request: Request) -> None:
        if not self._greeted and request.method != "initialize":
            self._incoming.refuse(request.id, invalid_request("initialize must come first"))
        elif self._incoming.receive(request, self._app):
            self._greeted = True

    def _take_notification(self, notification: Notification) -> None:
        if not self._greeted or not isinstance(notification.params, dict):
            return
        if notification.method == "$/cancel_request":
            self._incoming.cancel(notification.params.get("requestId"))
            return
        listener = self._listeners.get(notification.method)
        if listener is not None:
            self._tell(listener, notification.params)

    def _tell(self, listener: Listener, params: dict[str, Any]) -> None:
        """A notification cannot be answered: what is wrong with it goes to the log."""
        try:
            checked = listener.params.model_validate(params)
        except ValidationError as error:
            _log.info("%s is ignored: %s", listener.name, from_validation(error))
            return
        try:
            listener.handle(self._app, checked)
        except Exception:
            _log.exception("%s failed", listener.name)

    def _take_response(self, response: Response) -> None:
        if not self._outgoing.settle(response) and response.empty:
            self._incoming.refuse(response.id, invalid_request("a message needs a method"))

    async def _shut(self, app: App) -> None:
        self._reader.stop()
        if self._holding is not None:
            self._holding.cancel()
        self._outgoing.disconnect()
        await self._incoming.finish(GRACE, long_ones=False)
        await _bounded(app.closing(), CLOSING)
        self._incoming.cancel_all()
        await self._incoming.finish(FLUSHING, long_ones=True)
        await _bounded(self._writer.flush(), FLUSHING)
        self._writer.close()


async def _bounded(work: Awaitable[None], seconds: float) -> None:
    """Wait for some work, but not longer than this, whatever becomes of it."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        task.cancel()
        _log.warning("closing took longer than %s s", seconds)
    elif not task.cancelled() and (error := task.exception()) is not None:
        _log.error("closing failed", exc_info=error)
