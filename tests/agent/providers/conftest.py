import pytest

from hermes_acp.agent.providers.chat_completions import ChatCompletions
from hermes_acp.agent.providers.endpoint import Endpoint
from tests.fakes.model_server import ModelServer


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def connect(server):
    """Makes providers of the server; they are closed at the end."""
    made = []

    def provider(**fields):
        made.append(ChatCompletions(Endpoint(**{"name": "fake", "model": "fake", "base_url": server.url} | fields)))
        return made[-1]

    yield provider
    for one in made:
        await one.aclose()


@pytest.fixture
def provider(connect):
    return connect()
