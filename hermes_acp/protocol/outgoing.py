"""Our requests to the editor, from the moment they are sent until they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hermes_acp.protocol.errors import INTERNAL_ERROR, Disconnected, RemoteError
from hermes_acp.protocol.jsonrpc import Id, Response

Send = Callable[[dict[str, Any]], None]


class Outgoing:
    """The open requests of one side. Answers are matched by id, in whatever order they come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._open: dict[Id, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._connected = True

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and wait for its result, however long that takes.

        When the waiting task is cancelled the editor is told so, and a late answer is ignored.

        Raises:
            RemoteError: the editor answered with an error.
            Disconnected: the editor is gone.
        """
        if not self._connected:
            raise Disconnected(f"{method}: the editor is gone")
        self._last_id += 1
        id_ = self._last_id
        future = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        self._open[id_] = future
        try:
            return await future
        except asyncio.CancelledError:
            if id_ in self._open:
                self._send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id_}})
            raise
        finally:
            self._open.pop(id_, None)

    def settle(self, response: Response) -> bool:
        """Give an answer to whoever waits for it; false when nobody does."""
        future = self._open.pop(response.id, None)
        if future is None:
            return False
        if future.done():
            return True
        if response.error is None:
            future.set_result(response.result)
        else:
            future.set_exception(_remote_error(response.error))
        return True

    def disconnect(self) -> None:
        """Nothing will be answered any more."""
        self._connected = False
        waiting, self._open = list(self._open.values()), {}
        for future in waiting:
            if not future.done():
                future.set_exception(Disconnected("the editor is gone"))


def _remote_error(error: Any) -> RemoteError:
    if not isinstance(error, dict):
        return RemoteError(INTERNAL_ERROR, str(error))
    code, message = error.get("code"), error.get("message")
    valid_code = code if isinstance(code, int) else INTERNAL_ERROR
    return RemoteError(valid_code, message if isinstance(message, str) else "", error.get("data"))
