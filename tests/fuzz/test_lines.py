"""Whatever an editor writes, each request has its one answer, and the next valid one is served."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.child import EXAMPLES, Child
from tests.fuzz.hostile import broken_lines, broken_messages, line

pytestmark = pytest.mark.slow
tried = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), print_blob=True)
CUTS = st.lists(st.integers(0, 100_000), max_size=8)


@tried
@given(data=st.data(), cuts=CUTS)
def test_wrong_values_at_any_place_of_any_message_are_answered_once_each(child, server, project, data, cuts):
    session = child.open(project)
    messages = data.draw(broken_messages(session, project))
    child.forget()
    child.write(b"".join(map(line, messages)), cuts)
    for message in messages:
        if "id" in message:
            child.wait(lambda said, id_=message["id"]: "method" not in said and said.get("id") == id_)
    child.ask("session/list")
    asked = {json.dumps(message["id"]) for message in messages if "id" in message}
    answered = {key: count for key, count in child.answers.items() if not key.startswith('"valid')}
    assert answered == dict.fromkeys(asked, 1)
    child.assert_served(project)
    assert server.problems == []


@tried
@given(data=st.data(), cuts=CUTS)
def test_broken_bytes_cost_at_most_their_own_lines(child, server, project, data, cuts):
    session = child.open(project)
    hostile = data.draw(broken_lines(session, project))
    child.forget()
    child.write(hostile + b"\n", cuts)
    child.ask("session/list")
    assert all(count == 1 for key, count in child.answers.items() if key != "null" and hostile.count(key.encode()) == 1)
    child.assert_served(project)
    assert server.problems == []


@tried
@given(garbage=st.binary(max_size=2000), cuts=CUTS)
def test_garbage_is_an_error_a_line_and_no_more(child, project, garbage, cuts):
    child.forget()
    child.write(garbage + b"\n", cuts)
    child.ask("session/list")
    assert child.answers.get("null", 0) <= garbage.count(b"\n") + 1
    child.assert_served(project)


@settings(tried, max_examples=max(EXAMPLES // 8, 3))
@given(data=st.data(), cuts=CUTS)
def test_nothing_before_initialize_keeps_it_from_being_answered(server, project, tmp_path_factory, data, cuts):
    """In a process of its own each time: the first bytes are read by other code than the rest."""
    hostile = data.draw(st.binary(max_size=200) | broken_lines("no session", project))
    child = Child(tmp_path_factory.mktemp("home"), server.url)
    try:
        child.write(hostile + b"\n", cuts)
        assert child.ask("initialize", {"protocolVersion": 1})["result"]["protocolVersion"] == 1
        child.assert_served(project)
        child.leave("input")
        assert child.exited(10) == 0
        assert "Traceback" not in child.stderr
    finally:
        child.end()


@pytest.mark.parametrize("depth", [50, 200, 500, 900, 970, 990, 1000, 5_000, 200_000])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
@pytest.mark.parametrize("where", ["_meta", "extra", "prompt"])
def test_nesting_of_any_depth_has_one_answer(child, project, depth, brackets, where):
    session = child.open(project)
    child.forget()
    deep = brackets[0] * depth + "1" + brackets[1] * depth
    blocks = deep if where == "prompt" else '[{"type":"text","text":"hi"}]'
    more = "" if where == "prompt" else f'"{where}":{deep},'
    params = f'{{"sessionId":"{session}",{more}"prompt":{blocks}}}'
    child.write(f'{{"jsonrpc":"2.0","id":"deep","method":"session/prompt","params":{params}}}\n'.encode())
    child.wait(lambda said: said.get("id") == "deep" or (said.get("id", 0) is None and "error" in said))
    child.assert_served(project)
    assert child.answers.get('"deep"', 0) + child.answers.get("null", 0) == 1


def request(method, **params):
    return {"jsonrpc": "2.0", "id": "long", "method": method, "params": params}


@pytest.mark.parametrize("size", [5_000_000, 40_000_000])
@pytest.mark.parametrize(
    "kind", ["text", "unknown field", "method", "id", "garbage", "blanks", "cut character", "no end"]
)
def test_a_long_line_of_any_kind_costs_one_answer(child, project, size, kind):
    session = child.open(project)
    child.forget()
    long, blocks = "x" * size, [{"type": "text", "text": "hi"}]
    data = {
        "text": lambda: line(request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": long}])),
        "unknown field": lambda: line(request("session/prompt", sessionId=session, prompt=blocks, extra=long)),
        "method": lambda: line(request(long)),
        "id": lambda: line({**request("session/list"), "id": long}),
        "garbage": lambda: long.encode() + b"\n",
        "blanks": lambda: b" " * size + b"\n",
        "cut character": lambda: "é".encode()[:1] + long.encode() + b"\n",
        "no end": lambda: b'"' + long.encode() + b"\n",
    }[kind]()
    child.write(data)
    child.ask("session/list")
    if kind in ("text", "unknown field"):
        child.wait(lambda said: said.get("id") == "long")
    child.assert_served(project)
    unexpected = [key for key, count in child.answers.items() if count > 1 and not key.startswith('"valid')]
    assert unexpected == []
    assert len([key for key in child.answers if not key.startswith('"valid')]) <= 1
