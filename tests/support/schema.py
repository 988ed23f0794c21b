"""The rules of the wire: every line of the agent against the schema, and against what went before it.

Params and results are checked against the definition of their method: the root of the schema has a branch
for extensions that accepts anything.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

from tests.support.cards import Cards

FOLDER = Path(__file__).parent.parent / "schema" / "v1"
Version = Literal["schema.json", "schema.unstable.json"]
Kind = Literal["Request", "Response", "Notification"]

_UNSTABLE_METHODS = ("session/fork",)
_IN_A_TURN = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")


@cache
def definitions(version: Version = "schema.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / version).read_text(encoding="utf-8"))["$defs"]
    return found


@cache
def validator(name: str, version: Version = "schema.json") -> Draft202012Validator:
    return Draft202012Validator({"$defs": definitions(version), "$ref": f"#/$defs/{name}"})


@cache
def name_of(method: str, kind: Kind, version: Version = "schema.json") -> str | None:
    """The definition of a method's params (Request, Notification) or result (Response)."""
    named = (name for name, value in definitions(version).items() if value.get("x-method") == method)
    return next((name for name in named if name.endswith(kind)), None)


def faults(name: str, value: Any, version: Version = "schema.json") -> list[str]:
    """What is wrong with a value of the named definition."""
    found = validator(name, version).iter_errors(value)
    return [f"{name} at /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in found]


def strange_members(name: str, value: Any) -> list[str]:
    """The members of a value that no part of the named definition speaks of: the schema takes them in."""
    return _strange(value, [{"$ref": f"#/$defs/{name}"}], "")


def _strange(value: Any, schemas: list[dict[str, Any]], place: str) -> list[str]:
    parts = [part for schema in schemas for part in _parts(schema, value)]
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        return [fault for index, item in enumerate(value) for fault in _strange(item, items, f"{place}/{index}")]
    known: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        for name, schema in part.get("properties", {}).items():
            known.setdefault(name, []).append(schema)
    if not isinstance(value, dict) or not known:
        return []
    own = [f"{place}/{name}" for name in value if name not in known]
    shared = [name for name in value if name in known]
    return own + [fault for name in shared for fault in _strange(value[name], known[name], f"{place}/{name}")]


def _parts(schema: Any, value: Any) -> list[dict[str, Any]]:
    """The schema, and all that it refers to and that the value fulfils."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    if "$ref" in schema:
        found += _parts(definitions("schema.unstable.json")[schema["$ref"].rpartition("/")[2]], value)
    for part in schema.get("allOf", ()):
        found += _parts(part, value)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if Draft202012Validator({"$defs": definitions("schema.unstable.json"), **part}).is_valid(value):
            found += _parts(part, value)
    return found


def check_line(direction: Literal["request", "answer"], method: str, message: dict[str, Any]) -> list[str]:
    """What is wrong with one line: a call of `method`, or the answer to a call of it."""
    version: Version = "schema.unstable.json" if method in _UNSTABLE_METHODS else "schema.json"
    if message.get("jsonrpc") != "2.0":
        return ['jsonrpc is not "2.0"']
    if direction == "answer":
        return _answer_faults(method, message, version)
    kind: Kind = "Request" if "id" in message else "Notification"
    name = name_of(method, kind, version)
    if name is None:
        known = method.startswith(("_", "$/"))
        return [] if known else [f"there is no {kind.lower()} {method}"]
    params = message.get("params")
    if method == "session/update" and isinstance(params, dict):
        return _update_faults(params)
    return faults(name, params, version)


def _update_faults(params: dict[str, Any]) -> list[str]:
    """As `faults("SessionNotification", …)`, but only against the branch of the update's own kind: updates
    come by the thousand, and a fault is then told by its field."""
    body = params.get("update")
    if not isinstance(body, dict) or not isinstance(params.get("sessionId"), str):
        return faults("SessionNotification", params)
    branch = _branch(str(body.get("sessionUpdate")))
    if branch is None:
        return [f"there is no such update: {body}"]
    found = branch.iter_errors(body)
    return [f"update at /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in found]


@cache
def _branch(kind: str) -> Draft202012Validator | None:
    for branch in definitions()["SessionUpdate"]["oneOf"]:
        if branch["properties"]["sessionUpdate"]["const"] == kind:
            return Draft202012Validator({"$defs": definitions(), **branch})
    return None


def _answer_faults(method: str, message: dict[str, Any], version: Version) -> list[str]:
    if ("result" in message) == ("error" in message):
        return ["an answer needs exactly one of result and error"]
    if "error" in message:
        return faults("Error", message["error"])
    name = name_of(method, "Response", version)
    return faults(name, message["result"], version) if name else []


class Dialogue:
    """What was said on one connection, and what the agent may therefore say next."""

    def __init__(self) -> None:
        self.asked: dict[Any, dict[str, Any]] = {}
        self.asking: dict[Any, dict[str, Any]] = {}
        self._client: dict[str, Any] = {}
        self._turns: Counter[str] = Counter()
        self._cards = Cards()

    def editor_says(self, message: Any) -> None:
        """Take note of a line of the editor. It is not checked: tests send what they like."""
        if not isinstance(message, dict):
            return
        if "method" not in message:
            self.asking.pop(_key(message.get("id")), None)
        elif "id" in message:
            self._ask(message)

    def _ask(self, message: dict[str, Any]) -> None:
        self.asked.setdefault(_key(message["id"]), message)
        params = message.get("params")
        if not isinstance(params, dict):
            return
        if message["method"] == "initialize":
            self._client = params.get("clientCapabilities") or params.get("capabilities") or {}
        if message["method"] == "session/prompt":
            self._turns[str(params.get("sessionId"))] += 1

    def agent_says(self, message: Any) -> list[str]:
        """What is wrong with a line of the agent."""
        if not isinstance(message, dict):
            return ["not an object"]
        if "method" not in message:
            return self._answered(message)
        return [*check_line("request", message["method"], message), *self._called(message)]

    def _answered(self, message: dict[str, Any]) -> list[str]:
        request = self.asked.pop(_key(message.get("id")), None)
        if request is None:
            lawful = message.get("id") is None and "error" in message
            return [] if lawful else [f"an answer to {message.get('id')!r}, which nobody asked or was answered"]
        problems = check_line("answer", request["method"], message)
        if request["method"] == "session/prompt" and isinstance(request.get("params"), dict):
            problems += self._turn_over(str(request["params"].get("sessionId")))
        return problems

    def _turn_over(self, session: str) -> list[str]:
        self._turns[session] -= 1
        return [] if self._turns[session] else self._cards.left_open(session)

    def _called(self, message: dict[str, Any]) -> list[str]:
        method, params = message["method"], message.get("params") or {}
        problems = [] if self._offered(method, params) else [f"{method} is not offered by the editor"]
        if "id" in message:
            if _key(message["id"]) in self.asking:
                problems.append(f"the id {message['id']!r} is used again while it is open")
            self.asking[_key(message["id"])] = message
        if method == "session/update":
            problems += self._updated(params)
        return problems

    def _updated(self, params: dict[str, Any]) -> list[str]:
        update = params.get("update") or {}
        problems = self._cards.told(str(params.get("sessionId")), update)
        return problems if self._timely(params) else [*problems, f"{update.get('sessionUpdate')} outside a turn"]

    def _timely(self, params: dict[str, Any]) -> bool:
        if params.get("update", {}).get("sessionUpdate") not in _IN_A_TURN:
            return True
        replaying = any(request["method"] == "session/load" for request in self.asked.values())
        return replaying or self._turns[str(params.get("sessionId"))] > 0

    def _offered(self, method: str, params: dict[str, Any]) -> bool:
        """Whether the editor's capabilities allow this call (ACP: each capability by itself)."""
        files = self._client.get("fs") or {}
        session = self._client.get("session") or {}
        kind = str((params.get("update") or {}).get("sessionUpdate"))
        match method:
            case "fs/read_text_file":
                return bool(files.get("readTextFile"))
            case "fs/write_text_file":
                return bool(files.get("writeTextFile"))
            case "elicitation/create":
                return (self._client.get("elicitation") or {}).get(params.get("mode")) is not None
            case "session/update" if kind == "notice":
                return session.get("notices") is not None
            case "session/update" if kind.startswith("compaction_"):
                return session.get("compaction") is not None
        return bool(self._client.get("terminal")) if method.startswith("terminal/") else True


def _key(id_: Any) -> str:
    return json.dumps(id_)
