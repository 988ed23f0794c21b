"""A plain blocking editor that measures the agent it has started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parent.parent
OURS = [sys.executable, "-m", "hermes_acp", "--stdio"]
FLOOR = [sys.executable, "-I", str(ROOT / "bench" / "floor.py")]
now = time.monotonic


class Model:
    """The model server, in a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-m", "bench.model"], stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def log(self) -> list[dict[str, float]]:
        """Each request so far: when it was received, and when its first and last byte left."""
        with self._open(f"{self.url}/log", timeout=10) as answer:
            return json.load(answer)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Turn:
    """One prompt as the editor saw it; times are `time.monotonic()`."""

    sent: float
    first: float = 0.0
    ended: float = 0.0
    characters: int = 0
    stop: str = ""


@dataclass
class Agent:
    """A running agent, its work folder, and what it costs."""

    process: subprocess.Popen[bytes]
    folder: Path
    tag: str
    last_id: int = 0
    turns: dict[int, Turn] = field(default_factory=dict)

    @classmethod
    def start(cls, command: list[str], model: Model, home: Path | None = None, **more: str) -> Self:
        folder = Path(tempfile.mkdtemp(prefix="hermes-bench-"))
        (folder / "work").mkdir()
        (folder / "work" / "file.txt").write_text("alpha\n" * 10)
        tag = uuid.uuid4().hex
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "HERMES_ACP_HOME": str(home or folder / "home"),
            "HERMES_ACP_PROVIDER": "custom",
            "HERMES_ACP_MODEL": "bench",
            "HERMES_ACP_BASE_URL": f"{model.url}/v1",
            "HERMES_ACP_API_KEY": "bench",
            "HERMES_ACP_SANDBOX": "never",
            "BENCH_TAG": tag,
            **more,
        }
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            bufsize=0,
            start_new_session=True,
        )
        agent = cls(process, folder, tag)
        agent.reader = os.fdopen(os.dup(process.stdout.fileno()), "rb", 1 << 20)
        return agent

    def send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def begin(self, method: str, params: dict[str, Any]) -> int:
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def request(self, method: str, params: dict[str, Any]) -> Any:
        wanted = self.begin(method, params)
        return self.until(lambda message: message.get("id") == wanted and "method" not in message)["result"]

    def until(self, holds: Any) -> dict[str, Any]:
        """Read until a message holds; what is seen of turns on the way is noted, and every question allowed."""
        while True:
            message = json.loads(self.reader.readline())
            self._note(message)
            if holds(message):
                return message

    def hello(self) -> None:
        self.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})

    def session(self) -> str:
        return self.request("session/new", {"cwd": str(self.folder / "work"), "mcpServers": []})["sessionId"]

    def begin_prompt(self, session: str, **wanted: Any) -> int:
        text = f"[[{json.dumps(wanted)}]]"
        sent = now()
        number = self.begin("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})
        self.turns[number] = Turn(sent)
        self._by_session = {**getattr(self, "_by_session", {}), session: number}
        return number

    def prompt(self, session: str, **wanted: Any) -> Turn:
        return self.end(self.begin_prompt(session, **wanted))

    def end(self, number: int) -> Turn:
        """Wait for the answer of a prompt."""
        if not self.turns[number].ended:
            self.until(lambda message: message.get("id") == number and "method" not in message)
        return self.turns[number]

    def first_chunk(self, number: int) -> None:
        self.until(lambda message: self.turns[number].first)

    def cpu_ms(self) -> float:
        """CPU time of the agent's own process so far."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def rss_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def children(self) -> int:
        """Living processes that carry our tag, the agent itself aside, over the whole system."""
        count = 0
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != self.process.pid:
                try:
                    alive = (folder / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
                    command = (folder / "cmdline").read_bytes()
                    count += alive and self.tag.encode() in (folder / "environ").read_bytes() and b"sleep" in command
                except OSError:
                    continue
        return count

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.reader.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            outcome = {"outcome": "selected", "optionId": "allow_once"}
            self.send({"id": message["id"], "result": {"outcome": outcome}})
        elif message.get("method") == "session/update":
            params = message["params"]
            turn = self.turns.get(getattr(self, "_by_session", {}).get(params["sessionId"], 0))
            if turn and params["update"]["sessionUpdate"] == "agent_message_chunk":
                turn.first = turn.first or now()
                turn.characters += len(params["update"]["content"]["text"])
        elif message.get("id") in self.turns and "method" not in message:
            turn = self.turns[message["id"]]
            turn.ended, turn.stop = now(), message.get("result", {}).get("stopReason", "error")
