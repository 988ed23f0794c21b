"""The session of a program has what a session of an editor has."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hermes_acp.agent.model_table import known_model
from tests.fakes.model_server import Call, Say, fail
from tests.library.conftest import KEY

ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def home(project):
    folder = project.parent / "home"
    folder.mkdir()
    return folder


def offered(model):
    return {tool["function"]["name"] for tool in model.requests[-1].body["tools"]}


def results(result):
    return [message["content"] for message in result["messages"] if message["role"] == "tool"]


def test_the_agent_level_tools_are_there_and_the_callback_answers_the_question(make, model):
    asked = []

    def answer(question, choices):
        asked.append((question, choices))
        return "blue"

    agent = make(clarify_callback=answer)
    model.say(
        Say(calls=[Call("clarify", {"question": "Which colour?", "choices": ["red", "blue"]})]),
        Say(calls=[Call("clarify", {"question": "Why?"})]),
        "Blue.",
    )
    result = agent.run_conversation("Paint it.")
    assert asked == [("Which colour?", ["red", "blue"]), ("Why?", None)]
    assert results(result) == ["blue", "blue"]
    assert {"clarify", "todo", "session_search", "memory"} <= offered(model)


@pytest.mark.parametrize("answer", [None, lambda question, choices: 1 // 0, lambda question, choices: 5])
def test_without_an_answer_the_model_is_told_to_ask_in_its_own(make, model, answer):
    model.say(Say(calls=[Call("clarify", {"question": "Which colour?"})]), "Which colour?")
    [told] = results(make(clarify_callback=answer).run_conversation("Paint it."))
    assert "into your answer" in told


@pytest.mark.slow
def test_the_persons_mcp_servers_are_there_and_end_with_the_agent(make, model, home):
    table = f"command = {json.dumps(sys.executable)}\nargs = ['-m', 'tests.fakes.mcp_server']\n"
    (home / "config.toml").write_text(f"[mcp_servers.fake]\n{table}env = {{ PYTHONPATH = {json.dumps(ROOT)} }}\n")
    agent = make(approval_callback=lambda request: "once")
    for _ in range(5):
        agent.chat("Are they there?")
        if any(name.startswith("mcp__fake__") for name in offered(model)):
            break
    model.say(Say(calls=[Call("mcp__fake__look", {"name": "PYTHONPATH"})]), "Done.")
    assert results(agent.run_conversation("Look.")) == [ROOT]


def test_a_reserve_answers_when_the_model_cannot_and_is_named(make, model, home):
    (home / "config.toml").write_text(
        f'[[fallback_providers]]\nprovider = "custom"\nmodel = "reserve"\nbase_url = "{model.url}"\n'
    )
    told = []
    agent = make(status_callback=lambda kind, text: told.append(kind))
    model.say(fail(401, "no such key"), "From the reserve.")
    result = agent.run_conversation("Go.")
    assert (result["final_response"], result["error"]) == ("From the reserve.", None)
    assert result["model"] == "reserve"
    assert "fallback" in told


def test_the_cost_is_told_where_the_price_is_known(make, model):
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    agent = make(model="gpt-5.5")
    for _ in range(2):
        model.say(Say("Done.", usage=usage))
        cost = agent.run_conversation("Go.")["usage"]["cost"]
        assert cost is None or cost > 0
        assert (cost is None) == (known_model("gpt-5.5", model.url).prices is None)
    assert make(model="never-heard-of").run_conversation("Go.")["usage"]["cost"] is None


def test_the_session_is_listed_under_its_first_words_and_holds_no_key(make, model, home):
    agent = make()
    agent.chat("Rename the function foo to bar, everywhere.")
    agent.chat("Thanks.")
    agent.close()
    with closing(sqlite3.connect(home / "sessions.db")) as database:
        rows = database.execute("SELECT id, title, prompted FROM sessions").fetchall()
    assert rows == [(agent.session_id, "Rename the function foo to bar, everywhere.", 1)]
    for path in home.iterdir():
        assert KEY.encode() not in path.read_bytes()


def test_commands_do_not_inherit_the_key(make, model, monkeypatch):
    monkeypatch.setenv("MY_VARIABLE", KEY)
    monkeypatch.setenv("HERMES_ACP_API_KEY", KEY)
    (agent,) = [make(api_key=None, approval_callback=lambda request: "once")]
    model.say(Say(calls=[Call("terminal", {"command": "env | grep -c HERMES_ACP_API_KEY; touch made"})]), "Done.")
    [shown] = results(agent.run_conversation("Go."))
    assert shown.startswith("0")
