"""What real editors sent in a session is sent to the agent again, and has to come to the same end.

Each file of `wire` is one run: every message of the editor, and those of the agent that one of the editor waits for.
`$PROJECT` and `$SESSION` stand for the folder and the session of the run.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import ModelServer
from tests.fakes.replies import Call, Say
from tests.support.editor import agent_command, agent_env

WIRE = Path(__file__).parent / "wire"
BEFORE = 'def greet(name):\n    return "Helo, " + name\n'
AFTER = BEFORE.replace("Helo", "Hello")
EDIT = Call("patch", {"path": "greet.py", "old_text": "Helo", "new_text": "Hello"})
CONVERSATION = (
    Say("I look at the file.", [Call("read_file", {"path": "greet.py"})]),
    Say("The greeting lacks a letter.", [EDIT]),
    Say("Done: it says `Hello` now."),
    Say([f"word{number} " for number in range(2000)], token_delay=0.02),
    Say("Still here."),
)


class Player:
    """Plays the editor's part of a recording to an agent."""

    def __init__(self, process: Process, project: Path) -> None:
        self.process = process
        self.places = {"$PROJECT": str(project), "$SESSION": ""}
        self.project = project
        self.stops: list[str] = []
        self.texts = ""

    async def play(self, recording: Path) -> None:
        for line in recording.read_text(encoding="utf-8").splitlines():
            step = json.loads(line)
            if step["from"] == "agent":
                await self._await(step["message"])
            else:
                await self._send(line)

    async def _send(self, line: str) -> None:
        for name, value in self.places.items():
            line = line.replace(name, value)
        message = json.loads(line)["message"]
        if message.get("method") == "session/cancel":
            while "word3" not in self.texts:
                self._note(await self._read())
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _await(self, wanted: dict[str, Any]) -> None:
        """Read on to the answer or the request that came in the recording; no other may come before it."""
        while "id" not in (message := await self._read()):
            self._note(message)
        assert (message["id"], message.get("method")) == (wanted["id"], wanted.get("method"))
        if "method" not in wanted:
            assert wanted["answer"] in message, message
            self._answered(message["result"])
        elif message["method"] == "fs/write_text_file":
            Path(message["params"]["path"]).write_text(message["params"]["content"], encoding="utf-8")

    async def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(await asyncio.wait_for(self.process.stdout.readline(), 20))
        return message

    def _note(self, message: dict[str, Any]) -> None:
        update = message["params"].get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk":
            self.texts += update["content"]["text"]

    def _answered(self, result: dict[str, Any]) -> None:
        self.places["$SESSION"] = result.get("sessionId", self.places["$SESSION"])
        if "stopReason" in result:
            self.stops.append(result["stopReason"])


@pytest.fixture
async def model():
    async with ModelServer() as server:
        server.say(*CONVERSATION)
        yield server
        assert server.problems == []


@pytest.fixture
async def player(tmp_path, model):
    project = tmp_path / "project"
    project.mkdir()
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    env = agent_env(tmp_path, model.url)
    process = await asyncio.create_subprocess_exec(*agent_command(), stdin=PIPE, stdout=PIPE, env=env, limit=2**24)
    yield Player(process, project)
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 5) == 0


@pytest.mark.parametrize(
    ("recording", "stops"),
    [
        ("codecompanion", ["end_turn", "cancelled", "end_turn"]),
        ("acp-client", ["end_turn", "cancelled", "end_turn"]),
        ("acp-el", ["end_turn"]),
    ],
)
async def test_what_a_real_editor_sent_comes_to_the_same_end(player, recording, stops):
    await player.play(WIRE / f"{recording}.jsonl")
    assert player.stops == stops
    assert (player.project / "greet.py").read_text(encoding="utf-8") == AFTER
    assert "Done: it says `Hello` now." in player.texts
