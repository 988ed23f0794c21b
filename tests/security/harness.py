"""Plays a row of `security_cases.jsonl` on the whole agent: its files, rules and calls; and looks what came of it."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_acp.approval_rules import Rule, read_rules, runs_others
from tests.fakes.model_server import Call, Say
from tests.support.editor import Editor, choose, open_editor

_FILE = Path(__file__).parents[1] / "data" / "security_cases.jsonl"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in map(json.loads, _FILE.read_text("utf-8").splitlines()) if row["id"] != "_legend"
}
MODES = {"auto_edit": "accept_edits", "default": "ask", "sandbox_auto": "auto"}
NAMES = {"$HOME/.hermes/config.yaml": "$HOME/hermes-acp/config.toml"}
"""Files of other programs that stand for ours."""


@dataclass
class World:
    """The folders of a row, all beneath one: the workspace, the home, a place outside, and what is first on PATH."""

    root: Path
    before: dict[Path, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ws, self.home, self.out, self.bin = (self.root / name for name in ("ws", "home", "out", "bin"))
        for folder in (self.ws, self.home, self.out, self.bin):
            folder.mkdir()
        pwn = self.bin / "pwn"
        pwn.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" >>'{self.marker}'\n")
        pwn.chmod(0o755)

    @property
    def marker(self) -> Path:
        """There as soon as `pwn` has run."""
        return self.out / "marker.log"

    def named(self, text: str) -> str:
        """A text of the row with its folders filled in."""
        for name, stands_for in NAMES.items():
            text = text.replace(name, stands_for)
        for name, folder in (("$WS", self.ws), ("$HOME", self.home), ("$OUT", self.out), ("$BIN", self.bin)):
            text = text.replace(name, str(folder))
        return text

    def build(self, setup: dict[str, Any]) -> None:
        """Lay out the files, the repository and the settings of a row."""
        if setup.get("git_init"):
            subprocess.run(["git", "init", "-q"], cwd=self.ws, check=True)
        for key, value in setup.get("git_config", {}).items():
            subprocess.run(["git", "config", key, self.named(value)], cwd=self.ws, check=True)
        for name, content in setup.get("files", {}).items():
            self._lay(Path(self.named(name)), content)
        self._write_settings(setup)

    def _lay(self, path: Path, content: dict[str, str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if target := content.get("symlink"):
            path.symlink_to(self.named(target))
            return
        path.write_text(content["text"])
        path.chmod(int(content.get("mode", "644"), 8))
        self.before[path] = path.read_bytes()

    def _write_settings(self, setup: dict[str, Any]) -> None:
        file = self.home / "hermes-acp" / "config.toml"
        text = file.read_text() if file.exists() else ""
        mode = MODES[setup.get("mode", "default")]
        rules = "\n".join(rule.table for rule in rules_of(setup))
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'{text}[approvals]\nmode = "{mode}"\n{rules}\n')
        self.before[file] = file.read_bytes()

    def check_disk(self, expected: dict[str, Any]) -> None:
        """See that the files are as the row wants them."""
        for name, state in expected.items():
            path = Path(self.named(name))
            if state == "absent":
                assert not os.path.lexists(path), name
            else:
                assert path.exists(), name
                assert state == "exists" or path.read_bytes() == self.before[path], name


def rules_of(setup: dict[str, Any]) -> tuple[Rule, ...]:
    """The rules of a row, without those that no settings file may hold."""
    tables = setup.get("rules", ())
    return read_rules(
        [table for table in tables if table["decision"] != "allow" or not runs_others(table["prefix"][0])]
    )


@dataclass
class Stage:
    """An agent in the world of a row, its editor, and the questions that were asked."""

    world: World
    editor: Editor
    session: str
    asked: list[dict[str, Any]] = field(default_factory=list)


def _sandbox(row: dict[str, Any]) -> str:
    """The gate has to hold without a sandbox behind it; only rows that are about the sandbox have one."""
    return "auto" if row["setup"].get("mode") == "sandbox_auto" else "never"


@asynccontextmanager
async def staged(row: dict[str, Any], root: Path, model: Any, **env: str):
    """A stage for a row; when it is left, nothing of the agent is left either."""
    world = World(root)
    world.build(row["setup"])
    async with staged_in(row, world, model, **env) as stage:
        yield stage


@asynccontextmanager
async def staged_in(row: dict[str, Any], world: World, model: Any, **env: str):
    """A stage in a world that is there already."""
    env = {"PATH": f"{world.bin}:{os.environ['PATH']}", "HERMES_ACP_SANDBOX": _sandbox(row), **env}
    async with open_editor(world.home, model.url, cwd=world.ws, **env) as editor:
        await editor.initialize()
        stage = Stage(world, editor, await editor.new_session(world.ws))
        answer = choose(row["expect"].get("answer", "reject_once"))

        def handle(params: dict[str, Any]) -> Any:
            stage.asked.append(params)
            return answer(params)

        editor.handlers["session/request_permission"] = handle
        yield stage


async def play(row: dict[str, Any], root: Path, model: Any, **env: str) -> Stage:
    """Let the model make the calls of a row, each in a reply of its own, and check what came of it."""
    async with staged(row, root, model, **env) as stage:
        calls = [each["model_tool"] for each in row["input"]]
        for call in calls:
            arguments = {key: stage.world.named(value) for key, value in call["arguments"].items()}
            if call["name"] == "patch":
                arguments = {key.replace("_string", "_text"): value for key, value in arguments.items()}
            model.say(Say(calls=[Call(call["name"], arguments)]))
        model.say("Done.")
        stop = await stage.editor.prompt(stage.session, "go")
        assert stop == "end_turn"
        check(row["expect"], stage, model, len(calls))
        return stage


def check(expect: dict[str, Any], stage: Stage, model: Any, calls: int) -> None:
    """Compare what was asked, done and told with what the row expects."""
    statuses = final_statuses(stage)
    asked = len(stage.asked)
    match expect.get("permission", "any"):
        case "ask":
            assert asked == calls
        case "deny":
            assert (asked, statuses) == (0, ["failed"] * calls)
        case "none":
            assert (asked, statuses) == (0, ["completed"] * calls)
        case "ask_or_deny":
            assert asked + statuses.count("failed") >= calls
    shown = "".join(json.dumps(params["toolCall"], ensure_ascii=False) for params in stage.asked)
    for text in expect.get("shows", ()):
        assert text in shown
    if resolved := expect.get("shows_resolved"):
        assert not stage.asked or stage.world.named(resolved) in shown
    if expect.get("marker") == "absent":
        assert not stage.world.marker.exists()
    stage.world.check_disk(expect.get("disk", {}))
    told = "".join(str(request.messages) for request in model.requests)
    assert expect.get("tool_result", {}).get("contains", "") in told
    if canary := expect.get("provider_saw", {}).get("not_contains"):
        assert canary not in told


def final_statuses(stage: Stage) -> list[str]:
    """How each call ended, in order."""
    last = {
        update["toolCallId"]: update["status"]
        for update in stage.editor.updates(stage.session)
        if update["sessionUpdate"] in ("tool_call", "tool_call_update") and "status" in update
    }
    return list(last.values())
