"""One turn in a test: calls, replies, an agent that a script plays, and what was kept."""

import asyncio

import pytest

from hermes_acp.agent.loop import Agent
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import StoreError
from hermes_acp.messages import AssistantMessage, ToolCall
from hermes_acp.tools.registry import discover


def call(name, call_id, **arguments):
    return ToolCall(call_id, name, arguments)


def calls(*of):
    return AssistantMessage(tool_calls=of)


async def system(workspace):
    return "You are a test."


def agent(*replies, **settings):
    provider = settings.pop("provider", None) or Scripted(*replies)
    return Agent(provider, discover(), system, **settings)


async def kept(store):
    return [stored.message for stored in await store.messages("s")]


async def cancel_when(turn, condition):
    task = asyncio.create_task(turn)
    while not condition() and not task.done():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class FailingJournal:
    """A journal whose disk is full after so many commits."""

    def __init__(self, journal, good):
        self._journal = journal
        self.good = good
        self.commits = 0

    def __getattr__(self, name):
        return getattr(self._journal, name)

    async def commit(self, durable=False):
        self.commits += 1
        if self.commits > self.good:
            raise StoreError("disk full")
        await self._journal.commit(durable)
