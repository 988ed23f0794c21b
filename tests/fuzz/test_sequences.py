"""Right requests in any order and at any speed, on sessions that are opened, copied, closed and deleted meanwhile."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.model_server import Call, Say
from tests.fuzz.child import EXAMPLES
from tests.support.schema import Dialogue

pytestmark = pytest.mark.slow
tried = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), print_blob=True)

METHODS = ("new", "load", "resume", "fork", "close", "delete", "prompt", "prompt", "set_mode", "list")
OTHERS = ("cancel", "take back", "take back", "answer", "look away", "look")
"""An editor that looks away reads nothing until it looks, or wants an answer."""

STEPS = st.lists(
    st.tuples(st.sampled_from([*METHODS, *OTHERS]), st.integers(0, 3), st.booleans()),
    min_size=2,
    max_size=30,
)
LAWFUL = {-32002, -32602, -32603, -32800}
"""A session that is gone, a cancelled request, and a session that was deleted while something was stored in it."""


class Talk:
    """The messages of one example, judged together with the agent's in the order they were said."""

    def __init__(self, project: str, sessions: list[str]) -> None:
        self.dialogue = Dialogue()
        self.lock = threading.Lock()
        self.asked: list[str] = []
        self.project = project
        self.sessions = sessions

    def message(self, step: str, number: int) -> dict[str, Any]:
        session = self.sessions[number % len(self.sessions)]
        if step == "cancel":
            return {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
        if step == "take back":
            request = {"requestId": f"s{len(self.asked) - 1 - number}"}
            return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": request}
        self.asked.append(f"s{len(self.asked)}")
        params = self._params(step, session, number)
        return {"jsonrpc": "2.0", "id": self.asked[-1], "method": f"session/{step}", "params": params}

    def _params(self, step: str, session: str, number: int) -> dict[str, Any]:
        place = {"cwd": self.project, "mcpServers": []}
        return {
            "new": place,
            "list": {},
            "close": {"sessionId": session},
            "delete": {"sessionId": session},
            "prompt": {"sessionId": session, "prompt": [{"type": "text", "text": f"go {number}"}]},
            "set_mode": {"sessionId": session, "modeId": ("ask", "plan", "accept_edits")[number % 3]},
        }.get(step, {"sessionId": session, **place})


def reply(body):
    """A question, a read and text, so that a turn has several moments."""
    last = body["messages"][-1]
    if last["role"] == "user" and str(last["content"]).startswith(("go 0", "go 1")):
        calls = [Call("read_file", {"path": "a.txt"}), Call("terminal", {"command": "exit 0"})]
        return Say(text=["I look. "], calls=calls, token_delay=0.002)
    return Say(text=["a ", "b ", "c "], token_delay=0.002)


@tried
@given(steps=STEPS)
def test_every_request_has_one_answer_and_every_line_is_in_order(child, server, project, steps):
    (project / "a.txt").write_text("one\n")
    server.script(reply)
    talk = Talk(str(project), [child.open(project) for _ in range(3)])
    child.respond = allow
    child.forget()
    child.watch = talk.dialogue
    batch: list[dict[str, Any]] = []
    for step, number, at_once in steps:
        if step in ("look away", "look", "answer"):
            look(child, step)
        else:
            batch.append(talk.message(step, number))
        if not at_once or step == "answer":
            child.send(*batch)
            batch.clear()
        if step == "answer" and talk.asked:
            settled(child, talk.asked[-1])
    child.send(*batch)
    child.reading.set()
    answers = [settled(child, id_) for id_ in talk.asked]
    codes = {answer["error"]["code"] for answer in answers if "error" in answer}
    assert codes <= LAWFUL, [answer for answer in answers if "error" in answer]
    assert [count for key, count in child.answers.items() if key.startswith('"s') and count != 1] == []
    assert "Internal error" not in json.dumps(answers)
    server.forget()
    child.assert_served(project)
    child.watch = None
    assert server.problems == []


def look(child, step):
    if step == "look away":
        child.reading.clear()
    else:
        child.reading.set()


def settled(child, id_):
    return child.wait(lambda line: line.get("id") == id_ and "method" not in line)


def allow(request):
    result = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n"
