"""What holds for all tests."""

import signal

import pytest
from hypothesis import settings

from tests.fakes.model_server import ModelServer
from tests.support.model_thread import model_thread

# A shared machine may stop a test for longer than any example takes.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

# In the background of a shell Ctrl-C is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def project(tmp_path):
    """The folder that the agent works in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def model():
    """A model over real HTTP, with nothing to say but the default."""
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@pytest.fixture(scope="module")
def server_in_thread():
    with model_thread() as server:
        yield server


@pytest.fixture
def model_in_thread(server_in_thread):
    """As `model`, for tests that have no loop of their own or one that they block."""
    server_in_thread.forget()
    yield server_in_thread
    assert server_in_thread.problems == []
