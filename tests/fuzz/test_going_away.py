"""An editor that goes away, at every moment and in every way: the agent ends at once, and cleanly."""

from __future__ import annotations

import json
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.fuzz.child import LONG, Child
from tests.support.processes import processes_tagged
from tests.support.talk import open_params

pytestmark = pytest.mark.slow
HELLO = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {"protocolVersion": 1}}
PROMPT = [{"type": "text", "text": "go"}]


def nothing_said(child, server, project):
    """Before the first byte."""


def half_a_hello(child, server, project):
    child.write(json.dumps(HELLO).encode()[:40])


def half_a_character(child, server, project):
    child.send(HELLO)
    child.write(b'{"jsonrpc":"2.0","id":1,"method":"\xe2\x96')


def hello_alone(child, server, project):
    child.send(HELLO)


def in_one_write_with_everything(child, server, project):
    opening = {"cwd": str(project), "mcpServers": []}
    child.send(HELLO, {"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": opening})


def begin(child, project):
    child.ask("initialize", {"protocolVersion": 1})
    session = child.open(project)
    params = {"sessionId": session, "prompt": PROMPT}
    child.send({"jsonrpc": "2.0", "id": "go", "method": "session/prompt", "params": params})
    return session


def before_the_first_byte(child, server, project):
    server.say(Say(text=["late"], first_delay=60))
    session = begin(child, project)
    wait_for(lambda: server.requests)
    return session


def in_mid_stream(child, server, project):
    server.say(Say(text=["a "] * 5000, token_delay=0.01))
    session = begin(child, project)
    child.wait(lambda line: "agent_message_chunk" in json.dumps(line))
    return session


def at_a_question(child, server, project):
    server.say(Say(calls=[Call("terminal", {"command": "touch made"})]))
    session = begin(child, project)
    child.wait(lambda line: line.get("method") == "session/request_permission")
    return session


def allow(request):
    result = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n"


def in_a_command(child, server, project):
    child.respond = allow
    server.say(Say(calls=[Call("terminal", {"command": "(trap '' TERM HUP; sleep 300) & sleep 300"})]))
    session = begin(child, project)
    child.wait(lambda line: "in_progress" in json.dumps(line))
    time.sleep(0.2)
    return session


def in_a_queue_of_prompts(child, server, project):
    session = before_the_first_byte(child, server, project)
    for number in range(20):
        params = {"sessionId": session, "prompt": PROMPT}
        child.send({"jsonrpc": "2.0", "id": number, "method": "session/prompt", "params": params})
    return session


def while_it_closes(child, server, project):
    session = in_a_command(child, server, project)
    child.send({"jsonrpc": "2.0", "id": "close", "method": "session/close", "params": {"sessionId": session}})
    return session


def not_reading(child, server, project):
    server.say(Say(text=["x" * 500] * 5000, ending="ping"))
    session = begin(child, project)
    child.wait(lambda line: "agent_message_chunk" in json.dumps(line))
    child.reading.clear()
    time.sleep(0.5)
    return session


PHASES = {
    phase.__name__: phase
    for phase in (
        nothing_said,
        half_a_hello,
        half_a_character,
        hello_alone,
        in_one_write_with_everything,
        before_the_first_byte,
        in_mid_stream,
        at_a_question,
        in_a_command,
        in_a_queue_of_prompts,
        while_it_closes,
        not_reading,
    )
}


def wait_for(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


WAYS = ("input", "output", "both")
PAIRS = [(phase, way) for number, phase in enumerate(PHASES) for way in (WAYS if LONG else WAYS[number % 3 :][:1])]


@pytest.mark.parametrize(("phase", "way"), PAIRS)
def test_the_agent_ends_at_once_leaves_no_process_and_keeps_the_session(server, tmp_path, phase, way):
    if way == "output" and phase in ("nothing_said", "half_a_hello", "half_a_character", "hello_alone"):
        way = "both"
    server.forget()
    project = tmp_path / "project"
    project.mkdir()
    child = Child(tmp_path / "home", server.url)
    try:
        session = PHASES[phase](child, server, project)
        began = time.monotonic()
        child.leave(way)
        assert child.exited(10) == 0
        took = time.monotonic() - began
        assert took < 4, took
        assert processes_tagged(child.tag) == []
        assert not (project / "made").exists()
        assert "Traceback" not in child.stderr
    finally:
        child.end()
    if session is not None:
        loaded(tmp_path, server, project, session)


def loaded(tmp_path, server, project, session):
    server.forget()
    child = Child(tmp_path / "home", server.url)
    try:
        child.ask("initialize", {"protocolVersion": 1})
        place = open_params(session, project)
        assert "result" in child.ask("session/load", place)
        assert "user_message_chunk" in json.dumps(child.lines)
        answer = child.ask("session/prompt", {"sessionId": session, "prompt": PROMPT})
        assert answer["result"] == {"stopReason": "end_turn"}
        assert server.problems == []
        assert child.faults == []
    finally:
        child.end()
