"""Files that turns change and that are given back, without an agent."""

from contextlib import asynccontextmanager

from hermes_acp.agent.kept_workspace import KeptWorkspace
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.undoing import look_at, restore
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import user


@asynccontextmanager
async def session(folder, database=None):
    store = await Store.open(database)
    if await store.find("s") is None:
        await store.create(SessionRecord("s", str(folder)))
    journal = await store.journal("s")
    workspace = KeptWorkspace(LocalWorkspace(folder), journal)
    try:
        yield workspace, journal
    finally:
        await workspace.aclose()
        await store.aclose()


async def begin(journal):
    journal.begin_turn()
    journal.add_message(user("go"))
    await journal.commit()


async def put(workspace, path, data):
    old = await workspace.read(path) if await workspace.exists(path) else None
    await workspace.write(path, data, replacing=old)


async def undo(workspace, journal):
    """Undo a turn; how its files stood, or None when there was no turn."""
    turn = await journal.past_turn()
    if turn is None:
        return None
    files = await look_at(turn.files, workspace)
    for each in files:
        assert (await restore(each, workspace)).done
    journal.mark_undone(turn)
    await journal.commit()
    return [each.standing for each in files]
