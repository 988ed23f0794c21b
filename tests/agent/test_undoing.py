"""Whatever a turn does to files, taking it back gives the bytes that were there before."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from tests.support.undoing import begin, put, session, undo

NAMES = ["a", "b", "made/deep/c", "made/d"]
EDITS = st.tuples(st.sampled_from(NAMES), st.binary(max_size=60))
TURNS = st.lists(st.lists(EDITS, max_size=4), min_size=1, max_size=3)


def state(folder):
    """Every file and folder, with bytes and modes."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) if path.is_file() else None
        for path in folder.rglob("*")
    }


async def make_and_undo(folder, turns):
    async with session(folder) as (workspace, journal):
        states = []
        for turn in turns:
            states.append(state(folder))
            await begin(journal)
            for name, data in turn:
                await put(workspace, folder / name, data)
        for before in reversed(states):
            assert "changed" not in await undo(workspace, journal)
            assert state(folder) == before
        assert await undo(workspace, journal) is None


@settings(max_examples=15)
@given(TURNS, st.dictionaries(st.sampled_from(["a", "b"]), st.binary(max_size=60)), st.sampled_from([0o600, 0o755]))
def test_any_edits_and_then_undos_give_the_bytes_of_each_moment_back(turns, present, mode):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, data in present.items():
            (folder / path).write_bytes(data)
            (folder / path).chmod(mode)
        asyncio.run(make_and_undo(folder, turns))


async def test_what_a_write_replaces_is_stored_before_the_file_changes(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")

    class Watching(LocalWorkspace):
        async def write(self, path, data, *, replacing):
            assert target.read_bytes() == b"old"
            async with session(tmp_path, database) as (_, other):
                [file] = (await other.past_turn()).files
                assert file.held == b"old"
            return await super().write(path, data, replacing=replacing)

    database = tmp_path / "db" / "sessions.db"
    async with session(tmp_path, database) as (workspace, journal):
        await begin(journal)
        workspace.inner = Watching(tmp_path)
        await put(workspace, target, b"new")
    assert target.read_bytes() == b"new"


async def test_a_write_that_is_refused_is_no_change(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    async with session(tmp_path) as (workspace, journal):
        await begin(journal)
        with pytest.raises(ToolError):
            await workspace.write(target, b"new", replacing=b"something else")
        assert (await journal.past_turn()).files == ()
        await put(workspace, target, b"new")
        with pytest.raises(ToolError):
            await workspace.write(target, b"newer", replacing=b"something else")
        assert await undo(workspace, journal) == ["as_left"]
    assert target.read_bytes() == b"old"


async def test_a_file_is_not_changed_when_what_it_holds_cannot_be_kept(tmp_path):
    target = tmp_path / "a"
    old = os.urandom(200_000)
    target.write_bytes(old)
    async with session(tmp_path, tmp_path / "db" / "sessions.db") as (workspace, journal):
        await begin(journal)
        await journal._thread.run(lambda connection: connection.execute("PRAGMA max_page_count = 1"))
        with pytest.raises(ToolError, match=r"could not be kept.*full"):
            await put(workspace, target, b"new")
        assert target.read_bytes() == old


async def test_a_file_that_the_agent_has_put_back_itself_is_no_change(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    async with session(tmp_path) as (workspace, journal):
        await begin(journal)
        await put(workspace, target, b"new")
        await put(workspace, target, b"old")
        assert (await journal.past_turn()).files == ()


async def test_the_turn_of_another_window_is_not_undone_here(tmp_path):
    database = tmp_path / "db" / "sessions.db"
    async with session(tmp_path, database) as (one, first), session(tmp_path, database) as (other, second):
        await begin(first)
        await put(one, tmp_path / "a", b"one")
        await begin(second)
        await put(other, tmp_path / "b", b"other")
        assert not (await first.past_turn()).known
        assert (await second.past_turn()).known
    async with session(tmp_path, database) as (again, third):
        assert await undo(again, third) == ["as_left"]
        assert await undo(again, third) == ["as_left"]
    assert [path.name for path in tmp_path.iterdir()] == ["db"]
