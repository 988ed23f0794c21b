"""One agent for the examples of a module; one that has died is a failure of the example that killed it."""

import pytest

from tests.fuzz.child import Child, model_server


@pytest.fixture(scope="module")
def server():
    with model_server() as server:
        yield server


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def child(server, tmp_path_factory):
    child = Child(tmp_path_factory.mktemp("home"), server.url)
    child.ask("initialize", {"protocolVersion": 1})
    yield child
    child.end()
    assert "Traceback" not in child.stderr
