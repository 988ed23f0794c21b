"""The same conversation leaves the same messages, whichever API it is held in."""

from contextlib import AsyncExitStack

import pytest

from hermes_acp.config import API_MODES
from tests.fakes.model_server import ModelServer
from tests.modes.stage import connected, endpoint, play, staged
from tests.modes.talks import TALKS, told


@pytest.mark.parametrize("mode", API_MODES)
@pytest.mark.parametrize("name", [name for name in TALKS if name != "fallback"])
async def test_a_conversation_leaves_the_same_messages_in_every_mode(tmp_path, mode, name):
    talk = TALKS[name]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer("(the script is over)"))
        server.say(*talk.replies)
        provider = await stack.enter_async_context(connected(mode, endpoint(server.url)))
        stage = await stack.enter_async_context(staged(provider, tmp_path / "project", talk))
        await play(stage, talk)
        assert told(await stage.messages()) == talk.messages
        assert stage.shown == talk.shown
        assert tuple(stage.stops) == talk.stops
        assert (tmp_path / "project" / "a.txt").read_bytes() == b"alpha\n"
    assert server.problems == []
