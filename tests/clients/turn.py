"""The turn that every independent client drives, and the evidence that it must leave."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.model_server import Call, ModelServer, Say
from tests.support import tee
from tests.support.editor import agent_command
from tests.support.wirecheck import check, read_log

PROMPT = "Read both files, correct the first one, and note that it is done."
COMMAND = "printf '%s' done > made.txt"
READS = [Call("read_file", {"path": "one.txt"}), Call("read_file", {"path": "two.txt"})]
EDIT = Call("patch", {"path": "one.txt", "old_text": "wrong", "new_text": "right"})
REPLIES = [
    Say("I read both. ", calls=READS, reasoning="Two files to read."),
    Say("Now the edit. ", calls=[EDIT]),
    Say("And the command. ", calls=[Call("terminal", {"command": COMMAND})]),
    Say("All done."),
]


@dataclass(frozen=True)
class Stage:
    """Where a turn happens: a project, a home for the agent, the log between client and agent."""

    project: Path
    home: Path
    log: Path

    @property
    def command(self) -> list[str]:
        """The agent, with the tee in front of it."""
        return [sys.executable, str(Path(tee.__file__)), str(self.log), *agent_command()]

    @property
    def command_line(self) -> str:
        return shlex.join(self.command)


def set_stage(folder: Path) -> Stage:
    """A project of two files in a folder whose name has a space, as many have."""
    stage = Stage(folder / "pro ject", folder / "ho me", folder / "wire.log")
    stage.project.mkdir()
    stage.home.mkdir()
    (stage.project / "one.txt").write_text("this is wrong\n", encoding="utf-8")
    (stage.project / "two.txt").write_text("this is the other\n", encoding="utf-8")
    return stage


def assert_turn_was_whole(stage: Stage, server: ModelServer) -> None:
    """The files are changed, the model was asked what it should be, and the wire shows all of it in order."""
    assert (stage.project / "one.txt").read_text(encoding="utf-8") == "this is right\n"
    assert (stage.project / "made.txt").read_text(encoding="utf-8") == "done"
    assert_model_was_asked(server)
    checker = check(stage.log)
    assert checker.problems == []
    assert checker.seen.keys() >= {"agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"}
    assert_wire_shows_the_turn([json.loads(raw) for side, raw in read_log(stage.log) if side == "<"])


def assert_model_was_asked(server: ModelServer) -> None:
    """Four requests, and the results of the calls in the order of the calls."""
    assert server.problems == []
    assert len(server.requests) == len(REPLIES)
    assert PROMPT in str(server.requests[0].messages[-1]["content"])
    messages = server.requests[-1].messages
    roles = [message["role"] for message in messages if message["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool"]
    results = [str(message["content"]) for message in messages if message["role"] == "tool"]
    assert "this is wrong" in results[0]
    assert "this is the other" in results[1]
    assert "exit code 0" in results[3]


def assert_wire_shows_the_turn(lines: Sequence[dict[str, Any]]) -> None:
    """A thought, text, four cards of three kinds with one end each, an edit's diff, and two questions."""
    updates = [line["params"]["update"] for line in lines if line.get("method") == "session/update"]
    assert "Two files to read." in text_of(updates, "agent_thought_chunk")
    assert text_of(updates, "agent_message_chunk") == "".join(str(reply.text) for reply in REPLIES)
    cards = cards_of(updates)
    assert [card["kind"] for card in cards] == ["read", "read", "edit", "execute"]
    assert [card["ends"] for card in cards] == [["completed"]] * 4
    (diff,) = [item for item in cards[2]["content"] if item["type"] == "diff"]
    assert (diff["oldText"], diff["newText"]) == ("this is wrong\n", "this is right\n")
    asked = [line["params"]["toolCall"] for line in lines if line.get("method") == "session/request_permission"]
    assert [call["toolCallId"] for call in asked] == [card["toolCallId"] for card in cards[2:]]
    assert asked[1]["rawInput"]["command"] == COMMAND
    answers = [line["result"] for line in lines if "stopReason" in (line.get("result") or {})]
    assert [answer["stopReason"] for answer in answers] == ["end_turn"]


def text_of(updates: Sequence[dict[str, Any]], kind: str) -> str:
    return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == kind)


def cards_of(updates: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cards as they stood at the end, in the order they came, each with the final states it was given."""
    cards: dict[str, dict[str, Any]] = {}
    for update in updates:
        if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
            card = cards.setdefault(update["toolCallId"], {"ends": []})
            card |= update
            card["ends"] += [update["status"]] if update.get("status") in ("completed", "failed") else []
    return list(cards.values())
