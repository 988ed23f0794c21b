"""A program where nobody is present, with a sandbox and without."""

import os

import pytest

from hermes_acp.errors import ConfigError
from tests.fakes.model_server import Call, Say
from tests.support.walls import working_sandbox


@pytest.fixture
def walled(project, monkeypatch):
    """The folder of a program whose commands run in a sandbox."""
    working_sandbox()
    monkeypatch.setenv("HERMES_ACP_SANDBOX", "auto")
    monkeypatch.setenv("HOME", str(project.parent))
    return project


def results(model):
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


def test_what_runs_behind_walls_is_allowed_and_nothing_else(make, model, walled):
    """Neither with the network, nor outside, nor an edit, nor a read of another place."""
    outside = walled.parent / "beside"
    calls = [
        Call("terminal", {"command": "touch made; touch ../beside; rm -f precious"}),
        Call("terminal", {"command": "touch with-network", "sandbox": "network"}),
        Call("terminal", {"command": "touch outside", "sandbox": "outside"}),
        Call("write_file", {"path": "written", "content": "x"}),
        Call("read_file", {"path": "/etc/hostname"}),
    ]
    (walled / "precious").touch()
    model.say(Say(calls=calls), "Done.")
    agent = make(on_ask="allow-in-sandbox")
    agent.chat("Go.")
    assert sorted(os.listdir(walled)) == ["made"]
    assert not outside.exists()
    assert ["Nobody is present" in text for text in results(model)] == [False, True, True, True, True]


def test_without_that_word_nothing_is_allowed_behind_walls_either(make, model, walled):
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Done.")
    make().chat("Go.")
    assert os.listdir(walled) == []


def test_a_program_that_answers_is_asked_all_the_same(make, model, walled):
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Done.")
    asked = []
    make(on_ask="allow-in-sandbox", approval_callback=lambda request: asked.append(request) or "deny").chat("Go.")
    assert [request.command for request in asked] == ["touch made"]
    assert os.listdir(walled) == []


def test_where_commands_run_is_the_first_status(make, walled):
    told = []
    make(status_callback=lambda kind, text: told.append((kind, text))).chat("Go.")
    assert told[0] == ("sandbox", "Commands run in a sandbox, without the network.")


def test_without_a_sandbox_it_is_an_error_and_nothing_runs(make, model, project):
    agent = make(on_ask="allow-in-sandbox")
    try:
        result = agent.run_conversation("Go.")
    except ConfigError as error:
        result = {"error": str(error)}
    assert "allow-in-sandbox needs a sandbox" in result["error"]
    assert model.requests == []
