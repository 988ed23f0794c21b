"""What holds for all tests."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fakes.model_server import ModelServer
from tests.support.editor import open_editor
from tests.support.model_thread import model_thread

# A shared machine may stop a test for longer than any example takes.
settings.register_profile("all examples", deadline=None)
settings.register_profile("few examples", deadline=None, max_examples=20)

# Every test here starts a whole agent or talks with a server, and `make check` is to end within a minute.
SLOW = {
    Path(__file__).parent / name
    for name in (
        "chat",
        "cli/test_checking.py",
        "cli/test_doctor.py",
        "cli/test_knocking.py",
        "cli/test_main.py",
        "cli/test_sessions.py",
        "cli/test_setup.py",
        "cli/test_trajectories.py",
        "cli/test_trust.py",
        "clients",
        "conformance",
        "demo",
        "e2e",
        "editors",
        "fuzz",
        "hazards",
        "library",
        "mcp",
        "modes",
        "security",
        "terminal",
        "test_keyring.py",
    )
}

# In the background of a shell Ctrl-C is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def is_fast_run(config):
    return config.option.markexpr == "not slow"


def is_slow(path):
    """Whether a file or folder is slow as a whole."""
    return not SLOW.isdisjoint([path, *path.parents])


def pytest_configure(config):
    """`make check` tries a few examples of each property, every other run all of them."""
    settings.load_profile("few examples" if is_fast_run(config) else "all examples")


def pytest_ignore_collect(collection_path, config):
    """What is slow as a whole is not even imported when nothing of it is to run."""
    return True if is_fast_run(config) and is_slow(collection_path) else None


def pytest_collection_modifyitems(items):
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


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


@pytest.fixture
async def editor(tmp_path, model):
    """A whole agent over its real stdio, that has been greeted."""
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        yield editor


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
