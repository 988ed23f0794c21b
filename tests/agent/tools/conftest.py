"""One session with a store, and its agent-level tools called as the model calls them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hermes_acp.agent.loop import Agent
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.tools import AgentTools
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.base import ToolContext
from hermes_acp.tools.registry import discover


async def build_system(workspace):
    return "You are a test."


class Scene:
    """A session at its desk. `host` sees and answers; `agent` is who answers in it."""

    def __init__(self, talk, store, *replies):
        self.talk, self.store = talk, store
        self.host = RecordingHost()
        self.agent = Agent(Scripted(*replies), discover(), build_system)
        self.desk = Desk(talk, store, None, lambda: self.agent)
        talk.toolbox = AgentTools(self.desk)

    def script(self, *replies):
        """What the model will say."""
        self.agent = replace(self.agent, provider=Scripted(*replies))
        return self.agent.provider

    async def call(self, name, /, **arguments):
        """The result of one call, told to and asked of the host through the records."""
        tool = self.talk.toolbox[name]
        context = ToolContext("call_1", self.talk.workspace, host=RecordedHost(self.host, self.talk.journal))
        result = await (await tool.prepare(tool.params.model_validate(arguments), context)).run()
        await self.talk.journal.commit()
        return result


@pytest.fixture
def scene(talk, store):
    return Scene(talk, store)
