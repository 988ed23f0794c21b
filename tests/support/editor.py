"""An editor for end-to-end tests: it starts an agent, speaks ACP with it and checks every line it gets."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from tests.support.processes import TAG, processes_tagged
from tests.support.schema import Dialogue

ROOT = Path(__file__).parent.parent.parent
LONGEST_LINE = 256 * 1024 * 1024
PATIENCE = 20.0
"""Seconds to wait for anything unless a test says otherwise."""

Handler = Callable[[dict[str, Any]], Any]


class Sink(Protocol):
    """Where lines to an agent go."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class Process(Protocol):
    """An agent that runs, and its three streams."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    @property
    def stdin(self) -> Sink | None: ...

    @property
    def stdout(self) -> asyncio.StreamReader | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    async def wait(self) -> int: ...


class AgentError(Exception):
    """The agent answered with an error; handlers of an editor's methods raise it to do the same."""

    def __init__(self, code: int, message: str = "", data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.data = code, message, data


def agent_command(*arguments: str) -> list[str]:
    """The command that starts this checkout as an agent."""
    return [sys.executable, "-m", "hermes_acp", "--stdio", *arguments]


def agent_env(home: Path, model_url: str | None = None, **more: str) -> dict[str, str]:
    """An environment with nothing of the machine's own but PATH, and a home below `home`."""
    env = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "HERMES_ACP_HOME": str(home / "hermes-acp"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        # A request that no prompt asked for would use up a reply of the scripts.
        "HERMES_ACP_AUTO_TITLE": "false",
        "HERMES_ACP_LOCAL_SERVERS": "off",
        # What is tested here is beside the sandbox: editors' terminals, processes, the gate. Its own tests turn it on.
        "HERMES_ACP_SANDBOX": "never",
    }
    if model_url is not None:
        env |= {
            "HERMES_ACP_PROVIDER": "custom",
            "HERMES_ACP_MODEL": "fake-model",
            "HERMES_ACP_BASE_URL": model_url,
            "HERMES_ACP_API_KEY": "sk-test-0123456789",
        }
    return env | more


def choose(kind: str) -> Handler:
    """A person who always answers a permission request with this kind of option; "cancelled" closes it."""

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        for option in params["options"]:
            if option["kind"] == kind:
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
        return {"outcome": {"outcome": "cancelled"}}

    return answer


async def never(params: dict[str, Any]) -> Any:
    """A handler that does not answer until it is cancelled."""
    await asyncio.Event().wait()


class Editor:
    """The client's side of one connection.

    `lines` are the agent's messages in wire order, `times` when each was read, `sent` ours; `problems` what was
    wrong with the agent's; `rest` what came after the last whole line when the agent ended.
    `handlers` answer the agent's requests, by method: each takes the params and returns the result, or
    raises `AgentError`; it may be a coroutine. `cancelled` are the ids of requests the agent took back.
    `last_id` is the id of our latest request.
    """

    def __init__(self, process: Process, tag: str) -> None:
        self.process = process
        self.tag = tag
        self.lines: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.rest = b""
        self.sent: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.cancelled: list[Any] = []
        self.handlers: dict[str, Handler] = {"session/request_permission": choose("allow_once")}
        self.dialogue: Dialogue | None = Dialogue()
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._watching: list[tuple[Callable[[dict[str, Any]], bool], asyncio.Future[dict[str, Any]]]] = []
        self._answering: dict[Any, asyncio.Task[None]] = {}
        self._errors = bytearray()
        self.last_id = 0
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None) -> Self:
        """Start an agent in a process group of its own, marked by a tag in its environment."""
        tag = uuid.uuid4().hex
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**env, TAG: tag},
            cwd=cwd,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        return cls(process, tag)

    @property
    def stderr(self) -> str:
        """What the agent has written to stderr so far."""
        return self._errors.decode("utf-8", "replace")

    def begin(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[Any]:
        """Send a request; the future is its result, or fails with `AgentError` or `ConnectionError`."""
        self.last_id += 1
        future = asyncio.get_running_loop().create_future()
        self._waiting[self.last_id] = future
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params or {}})
        return future

    async def request(self, method: str, params: dict[str, Any] | None = None, *, timeout: float = PATIENCE) -> Any:
        """Send a request and wait for its result."""
        async with asyncio.timeout(timeout):
            return await self.begin(method, params)

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def send(self, *messages: dict[str, Any]) -> None:
        """Send any messages, a line each, in one write."""
        self.sent += messages
        for message in messages if self.dialogue else ():
            self.dialogue.editor_says(message)
        self.send_raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are; the checks know nothing of them."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def initialize(self, capabilities: dict[str, Any] | None = None) -> Any:
        """Say hello with these client capabilities; the agent's answer."""
        info = {"name": "test-editor", "version": "1.0"}
        params = {"protocolVersion": 1, "clientCapabilities": capabilities or {}, "clientInfo": info}
        return await self.request("initialize", params)

    async def new_session(self, cwd: Path, **more: Any) -> str:
        """The id of a new session in this folder."""
        result = await self.request("session/new", {"cwd": str(cwd), "mcpServers": [], **more})
        return str(result["sessionId"])

    def begin_prompt(self, session: str, text: str) -> asyncio.Future[Any]:
        """Send a prompt of one text block without waiting for its end."""
        return self.begin("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    async def prompt(self, session: str, text: str, *, timeout: float = PATIENCE) -> str:
        """Send a prompt and wait for its stop reason."""
        async with asyncio.timeout(timeout):
            return str((await self.begin_prompt(session, text))["stopReason"])

    def updates(self, session: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        """The updates so far, in wire order, of one session and kind or of all."""
        params = [line["params"] for line in self.lines if line.get("method") == "session/update"]
        of_session = [each["update"] for each in params if session in (None, each["sessionId"])]
        return [update for update in of_session if kind in (None, update["sessionUpdate"])]

    def text(self, session: str | None = None, kind: str = "agent_message_chunk") -> str:
        """The text of all chunks so far, joined."""
        return "".join(update["content"].get("text", "") for update in self.updates(session, kind))

    async def wait_line(
        self, matches: Callable[[dict[str, Any]], bool], *, timeout: float = PATIENCE
    ) -> dict[str, Any]:
        """The first line of the agent, past or to come, that matches."""
        for line in self.lines:
            if matches(line):
                return line
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._watching.append((matches, future))
        async with asyncio.timeout(timeout):
            return await future

    async def wait_update(
        self, matches: Callable[[dict[str, Any]], bool], *, timeout: float = PATIENCE
    ) -> dict[str, Any]:
        """The first update, past or to come, that matches."""
        line = await self.wait_line(
            lambda line: line.get("method") == "session/update" and matches(line["params"]["update"]), timeout=timeout
        )
        found: dict[str, Any] = line["params"]["update"]
        return found

    async def close(self, *, timeout: float = 5.0) -> int:
        """Close the agent's stdin and wait for its end; its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(timeout):
            return await self.process.wait()

    async def end(self, *, timeout: float = PATIENCE) -> int:
        """Wait until the agent is gone and all that it said has been read; its exit status."""
        async with asyncio.timeout(timeout):
            status = await self.process.wait()
            await asyncio.wait(self._tasks)
        return status

    async def kill(self) -> None:
        """End everything that this editor has started, at once."""
        # The agent hides its environment: for anybody but root its tag is not to be seen.
        own = [self.process.pid] if self.process.returncode is None else []
        for pid in {*own, *processes_tagged(self.tag)}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        await self.process.wait()
        await asyncio.wait(self._tasks, timeout=PATIENCE)
        for task in [*self._tasks, *self._answering.values()]:
            task.cancel()

    def assert_clean(self) -> None:
        """Every line so far was JSON-RPC, valid by the schema and in order."""
        assert not self.problems, "\n".join(self.problems)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while (line := await self.process.stdout.readline()).endswith(b"\n"):
            self._take(line)
        self.rest = line
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError(f"the agent is gone; stderr:\n{self.stderr[-4000:]}"))
                future.exception()

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(65536):
            self._errors += chunk

    def _take(self, line: bytes) -> None:
        try:
            text = line.decode("utf-8")
            message = json.loads(text)
        except ValueError as error:
            self.problems.append(f"not JSON ({error}): {line[:200]!r}")
            return
        if not text.isascii() and len(text.splitlines()) > 1:
            self.problems.append(f"some readers see several lines: {line[:200]!r}")
        if self.dialogue:
            problems = self.dialogue.agent_says(message)
            self.problems += [f"{problem}, in {line[:300]!r}" for problem in problems]
        if not isinstance(message, dict):
            return
        self.lines.append(message)
        self.times.append(time.monotonic())
        self._route(message)
        self._show(message)

    def _route(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._settle(message)
        elif "id" in message:
            self._answering[message["id"]] = asyncio.create_task(self._answer(message))
        elif message["method"] == "$/cancel_request":
            self.cancelled.append(message["params"]["requestId"])
            if task := self._answering.get(message["params"]["requestId"]):
                task.cancel()

    def _show(self, message: dict[str, Any]) -> None:
        for matches, future in list(self._watching):
            if not future.done() and matches(message):
                future.set_result(message)
        self._watching = [(matches, future) for matches, future in self._watching if not future.done()]

    def _settle(self, message: dict[str, Any]) -> None:
        future = self._waiting.pop(message.get("id"), None)
        if future is None or future.done():
            return
        if error := message.get("error"):
            future.set_exception(AgentError(error["code"], error["message"], error.get("data")))
            future.exception()
        else:
            future.set_result(message.get("result"))

    async def _answer(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            self.send({**answer, "result": await self._handle(message)})
        except AgentError as error:
            self.send({**answer, "error": {"code": error.code, "message": error.message, "data": error.data}})
        except asyncio.CancelledError:
            self.send({**answer, "error": {"code": -32800, "message": "cancelled"}})

    async def _handle(self, message: dict[str, Any]) -> Any:
        handler = self.handlers.get(message["method"])
        if handler is None:
            raise AgentError(-32601, "Method not found")
        result = handler(message.get("params") or {})
        return await result if inspect.isawaitable(result) else result


@asynccontextmanager
async def open_editor(
    home: Path, model_url: str | None = None, *, arguments: Sequence[str] = (), cwd: Path | None = None, **env: str
) -> AsyncIterator[Editor]:
    """An editor with this checkout as its agent. On leaving, every line must have been right."""
    editor = await Editor.start(agent_command(*arguments), env=agent_env(home, model_url, **env), cwd=cwd)
    try:
        yield editor
        editor.assert_clean()
    finally:
        await editor.kill()
