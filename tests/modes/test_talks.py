"""The same conversation leaves the same messages, whichever API it is held in."""

from contextlib import AsyncExitStack

import pytest

from hermes_acp.config import API_MODES
from tests.fakes.model_server import ModelServer
from tests.modes.stage import chained, connected, endpoint, play, staged
from tests.modes.talks import TALKS, told


@pytest.fixture
async def stack():
    async with AsyncExitStack() as stack:
        yield stack


async def serving(stack, replies):
    """A strict server that answers with these replies."""
    server = await stack.enter_async_context(ModelServer("(the script is over)"))
    server.say(*replies)
    return server


async def held(provider, folder, talk):
    """What is left of a conversation: its messages, what was shown, how the turns ended."""
    async with staged(provider, folder, talk) as stage:
        await play(stage, talk)
        return told(await stage.messages()), stage.shown, tuple(stage.stops)


@pytest.mark.parametrize("mode", API_MODES)
@pytest.mark.parametrize("name", [name for name in TALKS if name != "fallback"])
async def test_a_conversation_leaves_the_same_messages_in_every_mode(stack, tmp_path, mode, name):
    talk = TALKS[name]
    server = await serving(stack, talk.replies)
    provider = await stack.enter_async_context(connected(mode, endpoint(server.url)))
    assert await held(provider, tmp_path / "project", talk) == (talk.messages, talk.shown, talk.stops)
    assert (tmp_path / "project" / "a.txt").read_bytes() == b"alpha\n"
    assert server.problems == []


@pytest.mark.parametrize("reserve", API_MODES)
@pytest.mark.parametrize("mode", API_MODES)
async def test_a_reserve_goes_on_with_the_same_messages_whatever_either_speaks(stack, tmp_path, mode, reserve):
    talk = TALKS["fallback"]
    first, second = await serving(stack, talk.replies), await serving(stack, talk.reserve)
    links = ((mode, endpoint(first.url)), (reserve, endpoint(second.url, name="reserve")))
    provider = await stack.enter_async_context(chained(*links))
    assert await held(provider, tmp_path / "project", talk) == (talk.messages, talk.shown, talk.stops)
    assert (len(first.requests), len(second.requests)) == (5, 2)
    assert first.problems == second.problems == []
