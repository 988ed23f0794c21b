"""A damaged store, and a disk without room: the old bytes are kept, the person is told, and work goes on."""

import shutil
import sqlite3
import subprocess
from contextlib import closing, contextmanager, suppress

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.earlier import make_session
from tests.support.editor import AgentError, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def zeros(whole):
    return b"\0" * len(whole)


def truncated(whole):
    return whole[: len(whole) // 2 + 100]


def text(whole):
    return b"This is a text, not a database.\n" * 300


def flipped_pages(whole):
    """Every page but the first two has its beginning overwritten."""
    pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    return b"".join([*pages[:2], *(b"\xa5" * 200 + page[200:] for page in pages[2:])])


def flipped_beginning(whole):
    return bytes(byte ^ 0xFF for byte in whole[:4096]) + whole[4096:]


DAMAGE = [zeros, truncated, text, flipped_pages, flipped_beginning]


def without_table(database, name):
    with closing(sqlite3.connect(database)) as store, store:
        store.execute(f"DROP TABLE {name}")


async def assert_goes_on(home, model, project, old, bytes_before):
    """A new agent keeps the file, says so once, and serves new sessions; the old one is not known to it."""
    place = {"cwd": str(project), "mcpServers": []}
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        [kept] = [path for path in (home / "hermes-acp").glob("sessions.db.corrupt-*") if path.suffix != ".damaged"]
        assert kept.read_bytes() == bytes_before
        model.say("It goes on.")
        assert await editor.prompt(session, "And now?") == "end_turn"
        said = editor.text(session)
        assert "It goes on." in said
        assert str(kept) in said
        assert said.count("was damaged") == 1
        with pytest.raises(AgentError) as error:
            await editor.request("session/load", {"sessionId": old, **place})
        assert error.value.code == -32002
        await editor.close()
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        await editor.request("session/load", {"sessionId": session, **place})
        assert "It goes on." in editor.text(session)
        model.say("Still.")
        await editor.prompt(session, "And?")
        assert "was damaged" not in editor.text(session)
        assert kept.read_bytes() == bytes_before


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
async def test_a_store_that_was_damaged_between_two_starts(home, model, project, damage):
    old = await make_session(home, model, project)
    database = home / "hermes-acp" / "sessions.db"
    broken = damage(database.read_bytes())
    database.write_bytes(broken)
    await assert_goes_on(home, model, project, old, broken)


@pytest.mark.parametrize("table", ["messages", "turns", "contents"])
async def test_a_store_that_has_lost_a_table(home, model, project, table):
    old = await make_session(home, model, project)
    database = home / "hermes-acp" / "sessions.db"
    without_table(database, table)
    await assert_goes_on(home, model, project, old, database.read_bytes())


async def test_a_damage_that_no_start_meets_is_told_where_it_is_met_and_hides_nothing_else(home, model, project):
    """One flipped page far behind the first: sessions that do not need it are served from the same file."""
    old = await make_session(home, model, project)
    model.say("Of the other one.")
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        other = await editor.new_session(project)
        await editor.prompt(other, "The other question.")
        await editor.close()
    database = home / "hermes-acp" / "sessions.db"
    with closing(sqlite3.connect(database)) as store:
        page = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'contents_size'").fetchone()[0]
    whole = database.read_bytes()
    database.write_bytes(whole[: (page - 1) * 4096] + b"\xa5" * 4096 + whole[page * 4096 :])
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        for session, answer in ((old, "The answer."), (other, "Of the other one.")):
            await editor.request("session/load", open_params(session, project))
            assert answer in editor.text(session)
        assert not list(database.parent.glob("sessions.db.corrupt-*"))


@contextmanager
def small_disk(folder, kilobytes):
    """The folder as a disk of this size; where mounting is not allowed, nothing can stand in for a full one."""
    folder.mkdir(parents=True)
    options = f"size={kilobytes}k,mode=700"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    """Leave no room on the disk of this folder."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return filler


async def test_a_disk_without_room_in_mid_session(home, model, project):
    """The turn ends with the reason, no file is changed, and with room again the session goes on."""
    with small_disk(home / "hermes-acp", 1500) as folder:
        edit = Say(calls=[Call("write_file", {"path": "a.txt", "content": "new\n"})])
        (project / "a.txt").write_text("old\n")
        async with open_editor(home, model.url, HERMES_ACP_MODE="accept_edits") as editor:
            await editor.initialize()
            session = await editor.new_session(project)
            model.say("The answer.")
            assert await editor.prompt(session, "The question.") == "end_turn"
            filler, before = fill(folder), (folder / "sessions.db").read_bytes()
            model.say(edit, "Never said.")
            with pytest.raises(AgentError) as error:
                await editor.prompt(session, "x" * 200_000)
            assert error.value.code == -32603
            assert "disk is full" in error.value.message
            assert (project / "a.txt").read_text() == "old\n"
            assert (folder / "sessions.db").read_bytes() == before
            filler.unlink()
            model.script(lambda body: "There is room.")
            assert await editor.prompt(session, "And now?") == "end_turn"
            assert await editor.close() == 0
        async with open_editor(home, model.url) as editor:
            await editor.initialize()
            await editor.request("session/load", open_params(session, project))
            for words in ("The answer.", "There is room."):
                assert words in editor.text(session)


@pytest.mark.parametrize("existing", [False, True], ids=["a new store", "an old store"])
async def test_a_disk_without_room_at_the_start(home, model, project, tmp_path, existing):
    """Work goes on in memory, and says so; old sessions are an error and not unknown."""
    old = await make_session(tmp_path / "other", model, project) if existing else ""
    with small_disk(home / "hermes-acp", 1500) as folder:
        if existing:
            shutil.copy(tmp_path / "other" / "hermes-acp" / "sessions.db", folder)
        fill(folder)
        before = {path.name: path.read_bytes() for path in folder.glob("sessions.db")}
        async with open_editor(home, model.url) as editor:
            await editor.initialize()
            session = await editor.new_session(project)
            model.say("It goes on.")
            assert await editor.prompt(session, "And now?") == "end_turn"
            assert "It goes on." in editor.text(session)
            assert "cannot be kept" in editor.text(session)
            assert "full" in editor.text(session) or "No space" in editor.text(session)
            if existing:
                with pytest.raises(AgentError) as error:
                    await editor.request("session/load", {"sessionId": old, "cwd": str(project), "mcpServers": []})
                assert error.value.code == -32603
            assert await editor.close() == 0
        for name, content in before.items():
            assert (folder / name).read_bytes() == content
