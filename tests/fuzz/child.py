"""A real agent for property tests: bytes in, messages out, without a loop of its own."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.fakes.model_server import ModelServer
from tests.support.editor import agent_command, agent_env
from tests.support.processes import TAG, processes_tagged
from tests.support.schema import Dialogue, check_line

EXAMPLES = int(os.environ.get("HERMES_FUZZ_EXAMPLES", "30"))
"""How many examples each property is tried with; `make fuzz` asks for many more."""

LONG = "HERMES_FUZZ_EXAMPLES" in os.environ
"""Whether time does not matter."""

PATIENCE = 30.0


class Child:
    """One agent, and an editor for it.

    `lines` is every message that it sent, `faults` what was wrong with them. `respond` gives the bytes that
    answer its requests. While `reading` is not set, nothing is taken off the wire. `watch` judges what is said
    against what was said before.
    """

    def __init__(self, home: Path, model_url: str) -> None:
        self.tag = uuid.uuid4().hex
        self.lines: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.answers: dict[str, int] = {}
        self.respond: Callable[[dict[str, Any]], bytes] = lambda request: b""
        self.watch: Dialogue | None = None
        self._left = False
        self.reading = threading.Event()
        self.reading.set()
        self._log = home / "stderr.log"
        self._changed = threading.Condition()
        home.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as errors:
            self.process = subprocess.Popen(
                agent_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**agent_env(home, model_url), TAG: self.tag},
                start_new_session=True,
                bufsize=0,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last_id = 0

    @property
    def stderr(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def write(self, data: bytes, cuts: Sequence[int] = ()) -> None:
        """Send bytes, in pieces that end at these places."""
        assert self.process.stdin is not None
        places = sorted({place % (len(data) + 1) for place in cuts})
        for start, end in zip([0, *places], [*places, len(data)], strict=True):
            piece = memoryview(data)[start:end]
            while piece:
                piece = piece[self.process.stdin.write(piece) :]

    def send(self, *messages: Any) -> None:
        """Send messages, a line each, in one write."""
        if self.watch:
            with self._changed:
                for message in messages:
                    self.watch.editor_says(message)
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its answer: the message, whatever it says."""
        self._last_id += 1
        id_ = f"valid {self._last_id}"
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}})
        return self.wait(lambda line: "method" not in line and line.get("id") == id_)

    def wait(self, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first line, past or to come, that matches."""
        deadline, seen = time.monotonic() + PATIENCE, 0
        with self._changed:
            while True:
                for line in self.lines[seen:]:
                    if matches(line):
                        return line
                seen = len(self.lines)
                left = deadline - time.monotonic()
                assert left > 0, "no answer came"
                assert self.process.poll() is None, f"the agent has ended: {self.stderr[-3000:]}"
                self._changed.wait(min(left, 0.5))

    def leave(self, way: str) -> None:
        """Go away as an editor does: close its "input", its "output", or "both"."""
        if way in ("input", "both"):
            assert self.process.stdin is not None
            self.process.stdin.close()
        if way in ("output", "both"):
            self._left = True
            self.reading.set()

    def exited(self, seconds: float) -> int:
        """Wait for its end; its exit status."""
        return self.process.wait(seconds)

    def memory(self) -> int:
        """The memory it has now, in MB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000

    def forget(self) -> None:
        """Take what was said so far as settled."""
        with self._changed:
            self.lines.clear()
            self.faults.clear()
            self.answers.clear()

    def open(self, project: Path) -> str:
        """The id of a new session, whatever was done to the account before."""
        self.ask("authenticate", {"methodId": "credentials"})
        return str(self.ask("session/new", {"cwd": str(project), "mcpServers": []})["result"]["sessionId"])

    def assert_served(self, project: Path) -> None:
        """A new session is opened, a prompt answered, and every line was right."""
        session = self.open(project)
        blocks = [{"type": "text", "text": "hi"}]
        answer = self.ask("session/prompt", {"sessionId": session, "prompt": blocks})
        assert answer.get("result") == {"stopReason": "end_turn"}, answer
        self.ask("session/delete", {"sessionId": session})
        assert self.faults == []

    def end(self) -> None:
        """Kill it, and whatever it has started."""
        self.reading.set()
        for pid in processes_tagged(self.tag):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _answer(self, data: bytes) -> None:
        """An agent that has gone needs no answer."""
        with suppress(BrokenPipeError):
            self.write(data)

    def _read(self) -> None:
        buffer = bytearray()
        while data := self._next():
            buffer += data
            *lines, rest = buffer.split(b"\n")
            buffer = bytearray(rest)
            self._take(lines)

    def _next(self) -> bytes:
        assert self.process.stdout is not None
        self.reading.wait()
        output = select.poll()
        output.register(self.process.stdout, select.POLLIN)
        while not (output.poll(20) or self._left):
            continue
        if not self._left:
            return self.process.stdout.read(65536) or b""
        self.process.stdout.close()
        return b""

    def _take(self, lines: Sequence[bytearray]) -> None:
        with self._changed:
            for line in lines:
                try:
                    self._note(json.loads(line.decode("utf-8")))
                except ValueError:
                    self.faults.append(f"not JSON: {bytes(line[:200])!r}")
            self._changed.notify_all()

    def _note(self, message: dict[str, Any]) -> None:
        self.lines.append(message)
        if self.watch:
            self.faults += self.watch.agent_says(message)
        if "method" in message:
            self.faults += check_line("request", message["method"], message)
            if "id" in message:
                data = self.respond(message)
                if self.watch:
                    self.watch.editor_says(json.loads(data.splitlines()[0]))
                self._answer(data)
            return
        key = json.dumps(message.get("id"))
        self.answers[key] = self.answers.get(key, 0) + 1
        if ("result" in message) == ("error" in message):
            self.faults.append(f"an answer with neither or both: {message!r}")


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A model server on a loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = ModelServer()
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
