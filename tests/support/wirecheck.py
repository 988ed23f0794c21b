"""Checks a log of tee.py against the ACP v1 schema: wirecheck.py LOG

Every line the agent wrote must be JSON-RPC, its parameters and results valid for the method, each answer
must belong to a request, each request of the editor must have exactly one answer, and no update of a
session may follow the answer of the prompt that it belongs to; the client's methods are called only when
its capabilities offer them. An empty log is a problem too. Prints what kinds of updates were seen.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).parent.parent / "schema" / "v1" / "schema.json"
IN_A_TURN = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")
REPLAYING = ("session/load", "session/fork")


class Checker:
    """Takes the lines of a log in order; `problems` is what is wrong, `seen` counts the kinds of updates."""

    def __init__(self) -> None:
        self.definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
        self.names: dict[str, list[str]] = defaultdict(list)
        for name, definition in self.definitions.items():
            if method := definition.get("x-method"):
                self.names[method].append(name)
        self.problems: list[str] = []
        self.seen: dict[str, int] = defaultdict(int)
        self._open: dict[str, dict[str, Any]] = {">": {}, "<": {}}
        self._client: dict[str, Any] = {}
        self._busy: dict[str, int] = defaultdict(int)
        self._where = ""

    def line(self, number: int, side: str, raw: str) -> None:
        """One line of one side: ">" is the editor, "<" the agent."""
        self._where = f"line {number} {side}"
        try:
            message = json.loads(raw)
        except ValueError:
            message = None
        if isinstance(message, dict):
            self._message(side, message)
        elif side == "<":
            self._report(f"not a JSON object: {raw[:80]!r}")

    def finish(self) -> None:
        """The log is over: every request of the editor must have been answered."""
        self._where = "end"
        for key, message in self._open[">"].items():
            self._report(f"request {key} {message['method']} was never answered")

    def _report(self, text: str) -> None:
        self.problems.append(f"{self._where}: {text}")

    def _message(self, side: str, message: dict[str, Any]) -> None:
        if side == "<" and message.get("jsonrpc") != "2.0":
            self._report('jsonrpc is not "2.0"')
        if "method" not in message:
            self._answer(side, message)
            return
        if "id" in message:
            self._request(side, message)
        if side == "<":
            self._call_of_agent(
                message["method"], message.get("params"), "Request" if "id" in message else "Notification"
            )

    def _request(self, side: str, message: dict[str, Any]) -> None:
        key, params = json.dumps(message["id"]), message.get("params")
        if key in self._open[side]:
            self._report(f"id {key} reused while open")
        self._open[side][key] = message
        if side == ">" and message["method"] == "initialize" and isinstance(params, dict):
            self._client = params.get("clientCapabilities") or params.get("capabilities") or {}
        if side == ">" and message["method"] == "session/prompt" and isinstance(params, dict):
            self._busy[str(params.get("sessionId"))] += 1

    def _call_of_agent(self, method: str, params: Any, suffix: str) -> None:
        if not self._offered(method, params):
            self._report(f"{method} is not offered by the client")
        names = [name for name in self.names.get(method, []) if name.endswith(suffix)]
        if not names and not method.startswith(("_", "$/")):
            self._report(f"unknown {suffix.lower()} {method}")
        for name in names:
            self._check(name, params)
        if method == "session/update" and isinstance(params, dict):
            self._update(str(params.get("sessionId")), str((params.get("update") or {}).get("sessionUpdate")))

    def _update(self, session: str, kind: str) -> None:
        self.seen[kind] += 1
        replaying = any(message["method"] in REPLAYING for message in self._open[">"].values())
        if kind in IN_A_TURN and not replaying and not self._busy[session]:
            self._report(f"{kind} outside a turn")

    def _offered(self, method: str, params: Any) -> bool:
        files, session = self._client.get("fs") or {}, self._client.get("session") or {}
        match method, params:
            case "fs/read_text_file", _:
                return bool(files.get("readTextFile"))
            case "fs/write_text_file", _:
                return bool(files.get("writeTextFile"))
            case "elicitation/create", {"mode": mode}:
                return (self._client.get("elicitation") or {}).get(mode) is not None
            case "session/update", {"update": {"sessionUpdate": "notice"}}:
                return session.get("notices") is not None
            case "session/update", {"update": {"sessionUpdate": "compaction_update" | "compaction_summary_chunk"}}:
                return session.get("compaction") is not None
        return not method.startswith("terminal/") or bool(self._client.get("terminal"))

    def _answer(self, side: str, message: dict[str, Any]) -> None:
        key = json.dumps(message.get("id"))
        request = self._open["<" if side == ">" else ">"].pop(key, None)
        if side == ">":
            return
        if request is None and message.get("id") is not None:
            self._report(f"answer to unknown or already answered id {key}")
        if ("result" in message) == ("error" in message):
            self._report("needs exactly one of result and error")
        if request is not None:
            self._answer_to(request, message)

    def _answer_to(self, request: dict[str, Any], message: dict[str, Any]) -> None:
        params = request.get("params")
        if request["method"] == "session/prompt" and isinstance(params, dict):
            self._busy[str(params.get("sessionId"))] -= 1
        for name in self.names.get(request["method"], []):
            if name.endswith("Response") and "result" in message:
                self._check(name, message["result"])

    def _check(self, name: str, value: Any) -> None:
        validator = Draft202012Validator({"$defs": self.definitions, "$ref": f"#/$defs/{name}"})
        for error in validator.iter_errors(value):
            path = "/".join(map(str, error.absolute_path))
            self._report(f"{name} at /{path}: {error.message[:160]}")


def read_log(log: Path) -> list[tuple[str, str]]:
    """The lines of a log, each with its side."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return [(line[:1], line[2:]) for line in lines if line[:1] in ("<", ">") and line[2:].strip()]


def check(log: Path) -> Checker:
    """A checker that has taken the whole log."""
    checker = Checker()
    lines = read_log(log)
    for number, (side, raw) in enumerate(lines, 1):
        checker.line(number, side, raw)
    checker.finish()
    if not lines:
        checker.problems.append("the log is empty")
    return checker


def main() -> int:
    """Print what is wrong with a log; 1 when anything is."""
    checker = check(Path(sys.argv[1]))
    print("\n".join(checker.problems))
    print("seen:", ", ".join(f"{kind} {count}" for kind, count in sorted(checker.seen.items())) or "no update")
    return bool(checker.problems)


if __name__ == "__main__":
    sys.exit(main())
