"""One session with a store."""

import pytest

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.tools.approval import Approvals


@pytest.fixture
async def store():
    store = await Store.open(None)
    yield store
    await store.aclose()


@pytest.fixture
async def talk(store, tmp_path):
    await store.create(SessionRecord(id="s", cwd=str(tmp_path), created_at="2026-01-01", updated_at="2026-01-01"))
    workspace = LocalWorkspace(tmp_path, ())
    yield Conversation("s", workspace, await store.journal("s"), Approvals())
    await workspace.aclose()
