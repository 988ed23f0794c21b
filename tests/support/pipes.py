"""An editor of bytes: it sends whatever it likes, and reads only when and as much as the test says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from tests.support.editor import PATIENCE, agent_command, agent_env
from tests.support.processes import TAG, processes_tagged


class Pipes:
    """The bare ends of an agent. `lines` are the messages that were read, in order."""

    def __init__(self, process: asyncio.subprocess.Process, tag: str, log: Path) -> None:
        self.process = process
        self.tag = tag
        self.lines: list[dict[str, Any]] = []
        self._log = log
        self._buffer = bytearray()

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], log: Path) -> Self:
        """Start an agent whose stderr goes to the file `log`."""
        tag = uuid.uuid4().hex
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env={**env, TAG: tag},
                start_new_session=True,
                limit=1,
            )
        return cls(process, tag, log)

    @property
    def stderr(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def send_raw(self, data: bytes) -> None:
        """Send bytes, as fast as the agent takes them."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, *messages: Any) -> None:
        """Send messages, a line each, in one write."""
        self.send_raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def ask(self, id_: Any, method: str, params: Any = None) -> None:
        """Send a request without waiting for its answer."""
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}})

    async def read(self, size: int = 65536) -> bool:
        """Take at most so many bytes off the wire; false at its end."""
        assert self.process.stdout is not None
        data = await self.process.stdout.read(size)
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        self.lines += [json.loads(line.decode("utf-8")) for line in lines]
        return bool(data)

    async def until(self, matches: Callable[[dict[str, Any]], bool], *, timeout: float = PATIENCE) -> dict[str, Any]:
        """Read until a line matches, past ones counted, and return it."""
        seen = 0
        async with asyncio.timeout(timeout):
            while True:
                for line in self.lines[seen:]:
                    if matches(line):
                        return line
                seen = len(self.lines)
                assert await self.read(), f"the agent is gone; stderr:\n{self.stderr[-4000:]}"

    async def answer(self, id_: Any, *, timeout: float = PATIENCE) -> dict[str, Any]:
        """Read until the answer to a request has come."""
        return await self.until(lambda line: "method" not in line and line.get("id") == id_, timeout=timeout)

    async def open(self, project: Path) -> str:
        """Say hello and make a session; its id."""
        self.ask("hello", "initialize", {"protocolVersion": 1})
        self.ask("open", "session/new", {"cwd": str(project), "mcpServers": []})
        return str((await self.answer("open"))["result"]["sessionId"])

    async def rest(self, *, timeout: float = PATIENCE) -> None:
        """Read to the end of the wire."""
        async with asyncio.timeout(timeout):
            while await self.read():
                continue

    def hang_up(self) -> None:
        """Close the agent's input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def stop_reading(self) -> None:
        """Close the agent's output: its next write fails."""
        self.process._transport.get_pipe_transport(1).close()

    async def kill(self) -> None:
        """End everything that was started, at once."""
        for pid in processes_tagged(self.tag):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.hang_up()
        await self.process.wait()
        self.process._transport.close()


@asynccontextmanager
async def open_pipes(home: Path, model_url: str | None = None, **env: str) -> AsyncIterator[Pipes]:
    """This checkout as an agent, and the bare ends of its pipes."""
    home.mkdir(parents=True, exist_ok=True)
    pipes = await Pipes.start(agent_command(), env=agent_env(home, model_url, **env), log=home / "stderr.log")
    try:
        yield pipes
    finally:
        await pipes.kill()
