"""A session is brought back from the store the same way for every face."""

from pathlib import Path

from hermes_acp.agent.history import INTERRUPTED
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.config import Config
from hermes_acp.messages import user
from hermes_acp.opening import Opening
from hermes_acp.settings import Home
from hermes_acp.tools.safety.confining import hidden_places


def nobody():
    raise AssertionError("No agent is needed to open a session.")


async def opened(store: Store, home: Path):
    record = await store.find("s1")
    assert record is not None
    return (await Opening(store, Home(home, home)).session(record, Config(), "plan", nobody)).conversation


async def test_a_turn_that_a_crash_cut_off_is_closed_once_and_the_rest_comes_back(tmp_path):
    store = await Store.open(tmp_path / "sessions.db")
    try:
        await store.create(SessionRecord("s1", str(tmp_path), system_prompt="You are\n…", cost=0.5))
        cut = await opened(store, tmp_path)
        cut.begin(user("Paint it."))
        await cut.journal.commit()

        for _ in range(2):
            again = await opened(store, tmp_path)
            await again.journal.commit()
            assert again.messages == [user("Paint it."), INTERRUPTED]
            assert (again.system, again.cost, again.approvals.mode) == ("You are\n…", 0.5, "plan")
            assert {"todo", "memory", "session_search"} <= again.toolbox.keys()
        assert [stored.message for stored in await store.messages("s1")] == again.messages
    finally:
        await store.aclose()


async def test_the_first_sandbox_already_hides_the_persons_own_folders(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project):
        folder.mkdir()
    store = Store(None)
    try:
        await store.create(SessionRecord("s1", str(project)))
        await opened(store, home)
        assert home in hidden_places()
    finally:
        await store.aclose()
