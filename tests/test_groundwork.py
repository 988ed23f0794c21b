"""What comes before a session's turns is told once, whatever happens meanwhile."""

import asyncio
import threading

import pytest

from hermes_acp import groundwork
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.trust import Trust
from hermes_acp.config import Config
from hermes_acp.groundwork import Groundwork
from hermes_acp.opening import Opening
from hermes_acp.plugins.loading import Loaded, Loading
from hermes_acp.settings import Home


@pytest.fixture
async def ground(tmp_path):
    store = Store(None)
    record = await store.create(SessionRecord("s1", str(tmp_path)))
    opened = await Opening(store, Home(tmp_path / "home", tmp_path / "state")).session(
        record, Config(), "ask", lambda: None
    )
    told = []
    yield Groundwork(opened.conversation, opened.servers, Trust(), told.append), told
    await opened.conversation.workspace.aclose()
    await store.aclose()


async def test_a_broken_plugin_is_told_of_once_also_when_its_loading_was_cancelled_first(ground, monkeypatch):
    work, told = ground
    go = threading.Event()
    monkeypatch.setattr(
        groundwork, "LOADING", Loading(lambda: go.wait(5) and Loaded(problems=("guard: it is broken",)))
    )
    first = asyncio.create_task(work.load_plugins())
    await asyncio.sleep(0.05)
    first.cancel()
    await asyncio.wait([first])
    assert told == []
    go.set()
    for _ in range(2):
        await work.load_plugins()
    assert [notice.text for notice in told] == ["guard: it is broken"]


async def test_where_commands_run_is_said_once(ground):
    work, _ = ground
    assert [work.where_commands_run() for _ in range(2)] == [work.conversation.workspace.enclosure.told, ""]
