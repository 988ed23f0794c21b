"""Opening the store when its file or its place is not as it should be."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from hermes_acp.agent.store import database
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.schema import VERSION
from hermes_acp.agent.store.store import Store
from hermes_acp.errors import StoreError
from hermes_acp.messages import user

REPOSITORY = Path(__file__).parents[3]


async def works(store):
    """Whether a session can be kept and read back."""
    await store.create(SessionRecord("new", "/p", prompted=True))
    journal = await store.journal("new")
    journal.add_message(user("hi"))
    await journal.commit(durable=True)
    said = await store.messages("new")
    await store.aclose()
    return [stored.message for stored in said] == [user("hi")]


async def filled(path):
    store = await Store.open(path)
    await works(store)
    return path


def other_files(path):
    return sorted(file for file in path.parent.iterdir() if ".corrupt-" in file.name)


@pytest.mark.parametrize(
    "content", [b"\0" * 8192, b"This is a text, not a database.\n" * 300, b"SQLite format 3\0junk"]
)
async def test_a_file_that_is_no_database_is_kept_under_another_name(tmp_path, content):
    path = tmp_path / "sessions.db"
    path.write_bytes(content)
    store = await Store.open(path)
    [kept] = other_files(path)
    assert kept.read_bytes() == content
    assert str(kept) in store.problem
    assert await works(store)
    again = await Store.open(path)
    assert again.problem == ""
    assert (await again.find("new")).id == "new"
    await again.aclose()


@pytest.mark.parametrize("share", [0.3, 0.7])
async def test_a_truncated_file_is_kept_under_another_name(tmp_path, share):
    path = await filled(tmp_path / "sessions.db")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    store = await Store.open(path)
    [kept] = other_files(path)
    assert kept.read_bytes() == whole[: int(len(whole) * share)]
    assert "damaged" in store.problem
    assert await works(store)


async def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "sessions.db"
    path.touch()
    store = await Store.open(path)
    assert store.problem == ""
    assert await works(store)


async def test_a_database_of_something_else_is_kept_under_another_name(tmp_path):
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE sessions (name)")
        connection.execute("INSERT INTO sessions VALUES ('precious')")
    store = await Store.open(path)
    [kept] = other_files(path)
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT name FROM sessions").fetchall() == [("precious",)]
    assert await works(store)


async def test_two_damaged_files_in_one_second_are_both_kept(tmp_path):
    path = tmp_path / "sessions.db"
    for content in (b"first damage", b"second damage"):
        path.write_bytes(content)
        await (await Store.open(path)).aclose()
    assert {kept.read_bytes() for kept in other_files(path)} == {b"first damage", b"second damage"}


async def test_a_store_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE holograms (body)")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match="newer version"):
            await Store.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["sessions.db"]


async def test_a_store_opens_while_another_program_writes(tmp_path):
    path = await filled(tmp_path / "sessions.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store = await Store.open(path)
        assert store.problem == ""
        assert (await store.find("new")).id == "new"
        await store.aclose()


async def test_a_store_that_stays_locked_is_an_error_and_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked"):
            await Store.open(path)
        other.execute("ROLLBACK")
    assert await works(await Store.open(path))
    assert other_files(path) == []


async def test_a_second_store_on_the_same_file_takes_no_lock_from_the_first(tmp_path):
    path = await filled(tmp_path / "sessions.db")
    first = await Store.open(path)
    await first._run(lambda connection: connection.execute("BEGIN IMMEDIATE").fetchall())
    await (await Store.open(path)).aclose()
    probe = [sys.executable, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1], 0.1).execute('BEGIN IMMEDIATE')"]
    other = await asyncio.create_subprocess_exec(*probe, str(path), stderr=subprocess.PIPE)
    _, errors = await other.communicate()
    assert b"locked" in errors
    await first.aclose()


async def test_without_a_place_sessions_live_in_memory_and_the_person_is_told():
    store = await Store.open(None)
    assert "lost when the program ends" in store.problem
    assert await works(store)


async def test_a_home_that_cannot_be_made_means_memory(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    path = tmp_path / "file" / "home" / "sessions.db"
    store = await Store.open(path)
    assert str(path) in store.problem
    assert await works(store)


async def test_a_folder_in_the_place_of_the_file_means_memory(tmp_path):
    path = tmp_path / "sessions.db"
    path.mkdir()
    store = await Store.open(path)
    assert str(path) in store.problem
    assert await works(store)
    assert path.is_dir()


CHILD = """
import asyncio, os, sys
from pathlib import Path
from hermes_acp.agent.store import database
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store

async def main():
    store = await Store.open(Path(sys.argv[1]))
    await store.create(SessionRecord(sys.argv[2], "/p"))
    found = await store.find(sys.argv[2])
    sys.stdout.write(f"{found.id}|{store.problem}")
    await store.aclose()

if len(sys.argv) > 3:
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
asyncio.run(main())
"""


def child(*arguments):
    """A program that opens the store in a file and makes a session of a given id in it."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *map(str, arguments)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.fixture
def open_folder():
    """A folder that other users can enter, which those of pytest are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("existing", [False, True])
def test_a_read_only_home_means_memory(open_folder, existing):
    path = open_folder / "sessions.db"
    if existing:
        asyncio.run(filled(path))
        path.chmod(0o444)
    before = path.read_bytes() if existing else None
    open_folder.chmod(0o555)
    nobody = [65534] if os.geteuid() == 0 else []
    output, errors = child(path, "mine", *nobody).communicate(timeout=30)
    assert output.startswith("mine|Sessions cannot be kept in"), errors
    assert (path.read_bytes() if path.exists() else None) == before


def test_many_programs_opening_a_damaged_file_at_once_agree(tmp_path):
    path = tmp_path / "sessions.db"
    path.write_bytes(b"damage" * 1000)
    programs = [child(path, f"s{number}") for number in range(4)]
    ends = [program.communicate(timeout=30) for program in programs]
    assert [program.returncode for program in programs] == [0] * 4, ends
    [kept] = other_files(path)
    assert kept.read_bytes() == b"damage" * 1000
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id FROM sessions ORDER BY id").fetchall() == [(f"s{n}",) for n in range(4)]


async def test_a_store_that_lacks_a_table_is_kept_under_another_name(tmp_path):
    path = await filled(tmp_path / "sessions.db")
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE transcript")
    store = await Store.open(path)
    [kept] = other_files(path)
    assert str(kept) in store.problem
    with closing(sqlite3.connect(kept)) as other:
        assert other.execute("SELECT id FROM sessions").fetchall() == [("new",)]
    assert await works(store)


async def test_pages_that_are_damaged_in_mid_session_are_told_and_the_file_is_set_aside_at_the_next_start(tmp_path):
    path = tmp_path / "sessions.db"
    store = await Store.open(path)
    await store.create(SessionRecord("s", "/p", prompted=True))
    journal = await store.journal("s")
    for number in range(300):
        journal.add_message(user(f"{number} " * 200))
    await journal.commit(durable=True)
    await store.aclose()
    store = await Store.open(path)
    whole = path.read_bytes()
    pages = [whole[page : page + 4096] for page in range(0, len(whole), 4096)]
    damaged = b"".join([*pages[:16], *(b"\xa5" * 512 + page[512:] for page in pages[16:])])
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="damaged; it is set aside at the next start"):
        await store.messages("s")
    await store.aclose()
    again = await Store.open(path)
    [kept] = other_files(path)
    assert str(kept) in again.problem
    assert kept.read_bytes()[16 * 4096 :] == damaged[16 * 4096 :]
    assert not list(tmp_path.glob("*.damaged"))
    assert await works(again)


async def test_a_mark_of_damage_on_a_store_that_is_whole_sets_nothing_aside(tmp_path):
    path = await filled(tmp_path / "sessions.db")
    path.with_name("sessions.db.damaged").touch()
    store = await Store.open(path)
    assert store.problem == ""
    assert (await store.find("new")).id == "new"
    await store.aclose()
    assert not list(tmp_path.glob("*.damaged"))
