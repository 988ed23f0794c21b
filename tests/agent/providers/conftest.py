import asyncio
import json
import sys

import pytest

from hermes_acp.agent.providers.chat_completions import API
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from tests.fakes.model_server import ModelServer
from tests.support.asking import ask


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
def api():
    """The API that is spoken; other modules give their own."""
    return API


@pytest.fixture
async def connect(server, api):
    """Makes providers of the server; they are closed at the end."""
    made = []

    def provider(**fields):
        endpoint = Endpoint(**{"provider": "fake", "model": "fake", "base_url": server.url} | fields)
        made.append(RemoteModel(endpoint, api))
        return made[-1]

    yield provider
    for one in made:
        await one.aclose()


@pytest.fixture
def provider(connect):
    return connect()


@pytest.fixture
def sent(server, provider):
    """Sends a request, checks that the strict server found nothing wrong, and gives its body."""

    async def send(request, through=provider):
        await ask(through, request)
        assert server.problems == []
        return server.requests[-1].body

    return send


@pytest.fixture
async def server_apart():
    """Starts model servers in processes of their own, whose answers have so many deltas; gives their addresses."""
    running = []

    async def start(tokens):
        command = (sys.executable, "-m", "tests.fakes.model_server", "--tokens", str(tokens))
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        running.append(process)
        return json.loads(await process.stdout.readline())["url"]

    yield start
    for process in running:
        process.terminate()
        await process.wait()
