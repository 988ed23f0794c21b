"""One agent, one editor and one model server for many tests, each of which has sessions of its own.

For tests that neither end the agent nor need another one: `pytestmark = pytest.mark.asyncio(loop_scope="session")`.
"""

import pytest
import pytest_asyncio

from tests.fakes.model_server import ModelServer
from tests.support.editor import choose, open_editor

WINDOW = 100_000


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server():
    async with ModelServer() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_editor(server, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    async with open_editor(home, server.url, HERMES_ACP_CONTEXT_WINDOW=str(WINDOW)) as editor:
        await editor.initialize()
        yield editor


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def raw_editor(server, tmp_path_factory):
    """An editor that sends what it likes: what is not a message is not known to the checks."""
    async with open_editor(tmp_path_factory.mktemp("home"), server.url) as editor:
        await editor.initialize()
        editor.dialogue = None
        yield editor


@pytest.fixture
def one_model(server):
    """The server, with nothing asked and nothing to say but the default."""
    server.forget()
    yield server
    assert server.problems == []


@pytest_asyncio.fixture(loop_scope="session")
async def one_editor(shared_editor, one_model):
    """The editor, whose person allows everything once."""
    shared_editor.handlers = {"session/request_permission": choose("allow_once")}
    yield shared_editor
    shared_editor.assert_clean()
