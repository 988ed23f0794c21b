"""A small ACP client: JSON-RPC requests both ways, a line each, with an agent started as a child process."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

LINE_LIMIT = 64 * 1024 * 1024
END_WAIT = 2.0
"""Seconds that an agent has to leave after its input ended, before it is killed."""

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

Handler = Callable[[dict[str, Any]], Awaitable[Any]]


class AgentError(Exception):
    """The agent answered a request with an error: its `code`, message and `data`."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class AgentGone(Exception):
    """The agent closed its output, or was never there; no request will be answered any more."""


class AcpClient:
    """One agent process and the connection to it.

    `handlers` answer the agent's requests by method; a method that has none is answered "not found".
    `on_notification` is called for each notification, with method and params, in the order of arrival.
    """

    def __init__(
        self, process: Process, handlers: Mapping[str, Handler], on_notification: Callable[[str, Any], None]
    ) -> None:
        self._process = process
        self._handlers = handlers
        self._on_notification = on_notification
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._serving: dict[str, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        log: IO[bytes] | None = None,
        handlers: Mapping[str, Handler] | None = None,
        on_notification: Callable[[str, Any], None] = lambda method, params: None,
    ) -> AcpClient:
        """Start an agent; what it writes to stderr goes to `log`, or nowhere.

        It gets a session of its own: Ctrl-C is for the editor, which then cancels the turn.

        Raises:
            AgentGone: the program cannot be started.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=log or DEVNULL,
                env=env,
                cwd=cwd,
                limit=LINE_LIMIT,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentGone(f"The agent cannot be started: {error}") from error
        return cls(process, handlers or {}, on_notification)

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request and wait for its result.

        Raises:
            AgentError: the agent answered with an error.
            AgentGone: the connection ended before the answer.
            OSError: what a notification says could not be shown.
        """
        if self._reading.done():
            raise AgentGone("The agent has ended.")
        self._last_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = answer
        self._send({"id": self._last_id, "method": method, "params": params})
        return await answer

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    async def close(self) -> int:
        """End the agent's input, wait until it leaves, kill it if it does not; its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(END_WAIT):
                await self._process.wait()
        except TimeoutError:
            self.kill()
        await self._reading
        return await self._process.wait()

    def kill(self) -> None:
        """Kill the agent; requests that wait end with `AgentGone`."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, allow_nan=False)
        if not self._process.stdin.is_closing():
            self._process.stdin.write(line.encode("utf-8", "replace") + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self._receive(json.loads(line))
            reason = "The agent has ended."
        except ValueError as error:
            reason = f"The agent wrote what is no JSON-RPC: {error}"
        except OSError as error:
            self._end(error)
            return
        self._end(AgentGone(reason))

    def _end(self, reason: Exception) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(reason)
        for task in self._serving.values():
            task.cancel()

    def _receive(self, message: Any) -> None:
        match message:
            case {"method": "$/cancel_request", "params": {"requestId": request_id}}:
                if task := self._serving.get(json.dumps(request_id)):
                    task.cancel()
            case {"method": str(method), "id": request_id}:
                self._serve(request_id, method, message.get("params") or {})
            case {"method": str(method)}:
                self._on_notification(method, message.get("params"))
            case {"id": int(request_id)}:
                self._answered(request_id, message)

    def _answered(self, request_id: int, message: Mapping[str, Any]) -> None:
        answer = self._waiting.pop(request_id, None)
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(AgentError(error.get("code", INTERNAL_ERROR), error["message"], error.get("data")))
        else:
            answer.set_result(message.get("result"))

    def _serve(self, request_id: Any, method: str, params: dict[str, Any]) -> None:
        handler = self._handlers.get(method)
        if handler is None:
            self._refuse(request_id, METHOD_NOT_FOUND, f"This editor does not offer {method}.")
            return
        task = asyncio.ensure_future(handler(params))
        self._serving[json.dumps(request_id)] = task
        task.add_done_callback(lambda done: self._served(request_id, done))

    def _served(self, request_id: Any, task: asyncio.Future[Any]) -> None:
        self._serving.pop(json.dumps(request_id), None)
        if task.cancelled():
            self._refuse(request_id, REQUEST_CANCELLED, "The request was cancelled.")
        elif error := task.exception():
            self._refuse(request_id, INTERNAL_ERROR, str(error))
        else:
            self._send({"id": request_id, "result": task.result()})

    def _refuse(self, request_id: Any, code: int, message: str) -> None:
        self._send({"id": request_id, "error": {"code": code, "message": message}})
