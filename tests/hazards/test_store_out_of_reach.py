"""S6: a store that cannot be used for a while never turns an old session into a fresh one, or ends the agent."""

import os
import resource
import shutil
import sqlite3
import sys
import tempfile
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from hermes_acp.agent.store.schema import VERSION
from tests.fakes.model_server import Call, Say
from tests.support.earlier import make_session
from tests.support.editor import AgentError, Editor, agent_env, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

AS_NOBODY = """
import concurrent.futures.thread, importlib.metadata, os, pkgutil, sys
import hermes_acp.protocol.server
from hermes_acp.agent import tools
for found in pkgutil.iter_modules(tools.__path__):
    importlib.import_module(f"{tools.__name__}.{found.name}")
os.setgid(65534)
os.setuid(65534)
from hermes_acp.__main__ import main
sys.argv = ["hermes-acp", "--stdio"]
sys.exit(main())
"""
"""Permissions mean nothing to root: such an agent gives up its rights once it has read its program."""


@pytest.fixture
def home():
    """A home that another user can be given."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def project(home):
    folder = home / "project"
    folder.mkdir()
    return folder


@asynccontextmanager
async def open_weak_editor(home, model_url):
    """An editor whose agent is bound by permissions."""
    if os.geteuid() != 0:
        async with open_editor(home, model_url) as editor:
            yield editor
        return
    for path in (home, *home.rglob("*")):
        os.chown(path, 65534, 65534)
    editor = await Editor.start([sys.executable, "-c", AS_NOBODY], env=agent_env(home, model_url))
    try:
        yield editor
        editor.assert_clean()
    finally:
        await editor.kill()


def shown(editor, session):
    return [(update["sessionUpdate"], update.get("content")) for update in editor.updates(session)][:2]


def requests(session, project):
    place = {"cwd": str(project), "mcpServers": []}
    return [
        ("session/resume", {"sessionId": session, **place}),
        ("session/load", {"sessionId": session, **place}),
        ("session/fork", {"sessionId": session, **place}),
        ("session/list", {}),
        ("session/delete", {"sessionId": session}),
        ("session/new", place),
    ]


async def assert_refused(editor, method, params, reason):
    with pytest.raises(AgentError) as error:
        await editor.request(method, params)
    assert error.value.code == -32603, method
    assert reason in error.value.message, method


async def assert_all_there(editor, session, project):
    """The session is what it was, and the only one."""
    assert [row["sessionId"] for row in (await editor.request("session/list"))["sessions"]] == [session]
    await editor.request("session/load", open_params(session, project))
    text = [content["text"] for _, content in shown(editor, session)]
    assert text == ["The question.", "The answer."]


async def test_a_store_without_permission_is_an_error_until_it_is_given_back(home, model, project):
    session = await make_session(home, model, project)
    database = home / "hermes-acp" / "sessions.db"
    before = database.read_bytes()
    database.chmod(0)
    async with open_weak_editor(home, model.url) as editor:
        await editor.initialize()
        for method, params in requests(session, project):
            await assert_refused(editor, method, params, "Permission denied")
        database.chmod(0o600)
        assert database.read_bytes() == before
        await assert_all_there(editor, session, project)


@pytest.mark.slow
async def test_a_store_that_is_locked_at_the_start_is_an_error_until_it_is_free(home, model, project):
    session = await make_session(home, model, project)
    with closing(sqlite3.connect(home / "hermes-acp" / "sessions.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        async with open_editor(home, model.url) as editor:
            await editor.initialize()
            place = {"cwd": str(project), "mcpServers": []}
            await assert_refused(editor, "session/resume", {"sessionId": session, **place}, "locked")
            other.close()
            await assert_all_there(editor, session, project)


async def test_a_store_of_a_newer_version_is_left_alone_and_named(home, model, project):
    session = await make_session(home, model, project)
    database = home / "hermes-acp" / "sessions.db"
    with closing(sqlite3.connect(database)) as other:
        other.execute("PRAGMA user_version = 99")
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        for method, params in requests(session, project):
            await assert_refused(editor, method, params, "newer")
        with closing(sqlite3.connect(database)) as other:
            assert other.execute("PRAGMA user_version").fetchone() == (99,)
            other.execute(f"PRAGMA user_version = {VERSION}")
        await assert_all_there(editor, session, project)
        model.say("Going on.")
        assert await editor.prompt(session, "And?") == "end_turn"
        assert "The question." in str(model.requests[-1].messages)


async def test_in_a_home_that_is_read_only_work_goes_on_and_no_old_session_is_taken_for_gone(home, model, project):
    session = await make_session(home, model, project)
    folder = home / "hermes-acp"
    async with open_weak_editor(home, model.url) as editor:
        for path in folder.iterdir():
            path.chmod(0o400)
        folder.chmod(0o500)
        await editor.initialize()
        for method, params in requests(session, project)[:3]:
            await assert_refused(editor, method, params, "cannot be")
        await assert_refused(editor, "session/delete", {"sessionId": session}, "cannot be")
        fresh = await editor.new_session(project)
        assert await editor.prompt(fresh, "/help") == "end_turn"
        assert "Sessions cannot be kept" in editor.text(fresh)
    folder.chmod(0o700)


def let_files_grow(editor, size):
    """Let the agent make no file larger than this; None: as large as it likes."""
    limit = resource.RLIM_INFINITY if size is None else size
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


async def test_a_disk_that_is_full_in_mid_session_ends_turns_and_changes_no_file_until_there_is_room(
    home, model, project
):
    folder = home / "hermes-acp"
    edit = Say(calls=[Call("write_file", {"path": "a.txt", "content": "new\n"})])
    (project / "a.txt").write_text("old\n")
    async with open_editor(home, model.url, HERMES_ACP_MODE="accept_edits") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        model.say("The answer.")
        assert await editor.prompt(session, "The question.") == "end_turn"
        before = {path.name: path.read_bytes() for path in folder.glob("sessions.db")}
        let_files_grow(editor, 100)
        model.say(edit, "Never said.")
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "x" * 100_000)
        assert error.value.code == -32603
        assert "session store" in error.value.message
        assert (project / "a.txt").read_text() == "old\n"
        assert {path.name: path.read_bytes() for path in folder.glob("sessions.db")} == before
        let_files_grow(editor, None)
        model.script(lambda body: "There is room.")
        assert await editor.prompt(session, "And now?") == "end_turn"
        await editor.close()
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        await editor.request("session/load", open_params(session, project))
        for text in ("The question.", "And now?"):
            assert text in editor.text(session, "user_message_chunk")
        for text in ("The answer.", "There is room."):
            assert text in editor.text(session)


async def test_a_store_that_is_damaged_in_mid_session_is_told_and_set_aside_at_the_next_start(home, model, project):
    session = await make_session(home, model, project)
    database = home / "hermes-acp" / "sessions.db"
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        fresh = await editor.new_session(project)
        # The pages of the first tables and indexes stay readable, all others are flipped.
        whole = database.read_bytes()
        with closing(sqlite3.connect(database)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            whole = database.read_bytes()
            root = other.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()[0]
        damaged = bytearray(whole)
        damaged[(root - 1) * 4096 : (root - 1) * 4096 + 100] = b"\xa5" * 100
        database.write_bytes(damaged)
        model.say("Lost.")
        with pytest.raises(AgentError) as error:
            await editor.prompt(fresh, "Is all well?")
        assert "damaged" in error.value.message
        await editor.close()
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        fresh = await editor.new_session(project)
        model.script(lambda body: "All is well.")
        assert await editor.prompt(fresh, "Is all well?") == "end_turn"
        assert "was damaged" in editor.text(fresh)
    [kept] = database.parent.glob("sessions.db.corrupt-*[0-9]")
    assert session.encode() in kept.read_bytes()
