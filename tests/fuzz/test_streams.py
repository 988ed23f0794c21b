"""Storms of cancels; editors that read slowly, or not at all, or ask without listening."""

from __future__ import annotations

import json
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.model_server import Say
from tests.fuzz.child import EXAMPLES, Child

pytestmark = pytest.mark.slow
tried = settings(max_examples=max(EXAMPLES // 2, 5), suppress_health_check=list(HealthCheck), print_blob=True)
DELTAS = [f"{n} " for n in range(10_000)]


@pytest.fixture
def fresh(server, tmp_path):
    """An agent for one test alone."""
    server.forget()
    child = Child(tmp_path / "home", server.url)
    child.ask("initialize", {"protocolVersion": 1})
    yield child
    child.end()
    assert "Traceback" not in child.stderr


def prompt(session, id_=None):
    message = {"jsonrpc": "2.0", "method": "session/prompt", "id": id_}
    return {**message, "params": {"sessionId": session, "prompt": [{"type": "text", "text": f"go {id_}"}]}}


def text(child):
    updates = [line["params"]["update"] for line in child.lines if line.get("method") == "session/update"]
    return "".join(each["content"]["text"] for each in updates if each["sessionUpdate"] == "agent_message_chunk")


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["prompt", "prompt", "cancel", "cancel one", "other", "pause"]), st.integers(0, 30)),
    min_size=1,
    max_size=60,
)


@tried
@given(actions=ACTIONS, cuts=st.lists(st.integers(0, 20_000), max_size=5))
def test_a_storm_of_cancels_leaves_each_prompt_its_one_answer(child, server, project, actions, cuts):
    server.script(lambda body: Say(text=["a ", "b ", "c "], token_delay=0.002))
    session = child.open(project)
    child.forget()
    sent, batch = [], []
    for action, number in actions:
        match action:
            case "prompt":
                sent.append(f"p{len(sent)}")
                batch.append(prompt(session, sent[-1]))
            case "cancel":
                batch.append({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
            case "cancel one":
                request = {"requestId": f"p{number}"}
                batch.append({"jsonrpc": "2.0", "method": "$/cancel_request", "params": request})
            case "other":
                batch.append({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": str(number)}})
            case "pause":
                child.write(b"".join(json.dumps(each).encode() + b"\n" for each in batch), cuts)
                batch.clear()
                time.sleep(number / 1000)
    child.write(b"".join(json.dumps(each).encode() + b"\n" for each in batch), cuts)
    for id_ in sent:
        answer = child.wait(lambda line, id_=id_: line.get("id") == id_ and "method" not in line)
        assert answer["result"]["stopReason"] in ("end_turn", "cancelled")
    assert {key: count for key, count in child.answers.items() if key.startswith('"p')} == {
        json.dumps(id_): 1 for id_ in sent
    }
    server.forget()
    child.assert_served(project)
    assert server.problems == []


def test_ten_thousand_cancels_in_one_write_are_one_cancel(child, server, project):
    server.script(lambda body: Say(text=["late"], first_delay=30))
    session = child.open(project)
    cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
    began = time.monotonic()
    child.send(prompt(session, "one"), *[cancel] * 10_000)
    assert child.wait(lambda line: line.get("id") == "one")["result"] == {"stopReason": "cancelled"}
    assert time.monotonic() - began < 10
    server.forget()
    child.assert_served(project)


def test_an_editor_that_stops_reading_loses_no_character_of_ten_thousand_deltas(fresh, server, project):
    pieces = [f"{delta}{'x' * 4_000} " for delta in DELTAS]
    server.say(Say(text=pieces))
    session = fresh.open(project)
    fresh.forget()
    fresh.send(prompt(session, "go"))
    fresh.wait(lambda line: "agent_message_chunk" in json.dumps(line))
    fresh.reading.clear()
    before = fresh.memory()
    time.sleep(3)
    assert fresh.memory() < before + 20, "what is not read is not piled up"
    fresh.reading.set()
    assert fresh.wait(lambda line: line.get("id") == "go")["result"] == {"stopReason": "end_turn"}
    assert text(fresh) == "".join(pieces)
    fresh.assert_served(project)


def test_a_cancel_is_heeded_though_nothing_is_read(fresh, server, project):
    server.say(Say(text=[f"{delta}{'x' * 500} " for delta in DELTAS], ending="ping"))
    session = fresh.open(project)
    fresh.forget()
    fresh.send(prompt(session, "go"))
    fresh.wait(lambda line: "agent_message_chunk" in json.dumps(line))
    fresh.reading.clear()
    time.sleep(1)
    assert server.aborted == []
    fresh.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
    deadline = time.monotonic() + 5
    while not server.aborted and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.aborted, "the model was left at once"
    fresh.reading.set()
    assert fresh.wait(lambda line: line.get("id") == "go")["result"] == {"stopReason": "cancelled"}
    assert "".join(f"{delta}{'x' * 500} " for delta in DELTAS).startswith(text(fresh))
    fresh.assert_served(project)


def test_an_editor_that_asks_and_does_not_listen_is_heard_no_more_until_it_does(fresh, project):
    count = 10_000
    asked = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "session/list", "params": {}}).encode() + b"\n"
        for n in range(count)
    )
    fresh.assert_served(project)
    fresh.forget()
    fresh.reading.clear()
    before = fresh.memory()
    writer = threading.Thread(target=fresh.write, args=(asked,))
    writer.start()
    time.sleep(2)
    filled = fresh.memory()
    time.sleep(2)
    assert fresh.memory() < filled + 5
    assert filled < before + 40
    fresh.reading.set()
    writer.join(60)
    fresh.wait(lambda line: line.get("id") == count - 1)
    assert fresh.answers == {str(n): 1 for n in range(count)}
    fresh.assert_served(project)
