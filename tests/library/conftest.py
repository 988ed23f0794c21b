"""Agents as a program has them, and a model server over real HTTP."""

import pytest

from hermes_acp import AIAgent

KEY = "sk-test-0123456789"


@pytest.fixture
def model(model_in_thread):
    return model_in_thread


@pytest.fixture
def project(project, tmp_path, monkeypatch):
    """The folder that the program runs in; its home and the person's settings are elsewhere."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("HERMES_ACP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HERMES_ACP_LOCAL_SERVERS", "off")
    monkeypatch.setenv("HERMES_ACP_SANDBOX", "never")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return project


@pytest.fixture
def make(model, project):
    """Makes agents of the model, closed with the test."""
    agents = []

    def make(**arguments):
        agents.append(AIAgent(**{"model": "fake-model", "base_url": model.url, "api_key": KEY, **arguments}))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()
