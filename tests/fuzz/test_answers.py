"""Whatever an editor answers to our own requests, the turn ends, and nothing takes effect that was not allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.model_server import Call, Say
from tests.fuzz.child import EXAMPLES, Child
from tests.fuzz.hostile import GONE, VALUES, places, put

pytestmark = pytest.mark.slow
tried = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), print_blob=True)

ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
EXITED = {"exitCode": 0, "signal": None}
RIGHT = {
    "session/request_permission": ALLOWED,
    "fs/read_text_file": {"content": "one\n"},
    "fs/write_text_file": {},
    "terminal/create": {"terminalId": "t1"},
    "terminal/wait_for_exit": EXITED,
    "terminal/output": {"output": "hi\n", "truncated": False, "exitStatus": EXITED},
    "terminal/kill": {},
    "terminal/release": {},
}
STEPS = (
    Call("read_file", {"path": "a.txt"}),
    Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"}),
    Call("terminal", {"command": "touch made", "timeout": 2}),
)


@st.composite
def answers(draw, method):
    """The members of an answer: right, right but for one part, anything at all, an error, both or neither."""
    right, kind = RIGHT[method], draw(st.sampled_from(["right", "right", "changed", "any", "error", "both", "neither"]))
    if kind == "changed":
        where = draw(st.sampled_from([place for place in places(right) if place] or [None]))
        return {"result": put(right, where, draw(VALUES | st.just(GONE))) if where else draw(VALUES)}
    errors = VALUES | st.builds(lambda code, message: {"code": code, "message": message}, VALUES, VALUES)
    return {
        "right": lambda: {"result": right},
        "any": lambda: {"result": draw(VALUES)},
        "error": lambda: {"error": draw(errors)},
        "both": lambda: {"result": right, "error": draw(errors)},
        "neither": dict,
    }[kind]()


@pytest.fixture(scope="module")
def editor(server, tmp_path_factory):
    editor = Child(tmp_path_factory.mktemp("home"), server.url)
    offers = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    editor.ask("initialize", {"protocolVersion": 1, "clientCapabilities": offers})
    yield editor
    editor.end()
    assert "Traceback" not in editor.stderr


def next_step(body):
    done = sum(message["role"] == "tool" for message in body["messages"])
    return Say(calls=[STEPS[done]]) if done < len(STEPS) else "Done."


@tried
@given(data=st.data(), twice=st.booleans())
def test_no_answer_breaks_a_turn_or_allows_what_was_not_allowed(editor, server, tmp_path_factory, data, twice):
    said = {method: data.draw(answers(method)) for method in RIGHT}
    project = tmp_path_factory.mktemp("project")
    (project / "a.txt").write_text("one\n")
    server.forget()
    server.script(next_step)

    def respond(request):
        if request["method"] == "fs/write_text_file" and said["fs/write_text_file"] == {"result": {}}:
            Path(request["params"]["path"]).write_text(request["params"]["content"])
        answer = {"jsonrpc": "2.0", "id": request["id"], **said[request["method"]]}
        return (json.dumps(answer) + "\n").encode() * (1 + twice)

    editor.respond = respond
    session = editor.open(project)
    blocks = [{"type": "text", "text": "go"}]
    answer = editor.ask("session/prompt", {"sessionId": session, "prompt": blocks})
    assert "result" in answer, answer
    assert answer["result"]["stopReason"] in ("end_turn", "cancelled")
    if said["session/request_permission"] != {"result": ALLOWED}:
        allowed = said["session/request_permission"].get("result")
        assert is_allowed(allowed) or not (project / "made").exists()
        assert is_allowed(allowed) or (project / "a.txt").read_text() == "one\n"
    server.forget()
    editor.assert_served(project)
    assert server.problems == []


def is_allowed(result):
    """Whether the answer says so beside what it says more."""
    outcome = result.get("outcome") if isinstance(result, dict) else None
    known = outcome if isinstance(outcome, dict) else {}
    return known.get("outcome") == "selected" and known.get("optionId") in ("allow_once", "allow_always")
