"""Nothing that was noted is lost, doubled or put in another order, whatever happens to the writer."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from hermes_acp.agent.store import database
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.errors import StoreError
from hermes_acp.events import Notice
from hermes_acp.messages import user

REPOSITORY = Path(__file__).parents[3]


@asynccontextmanager
async def session(path, session_id="s"):
    store = await Store.open(path)
    try:
        if await store.find(session_id) is None:
            await store.create(SessionRecord(session_id, "/p", prompted=True))
        yield store, await store.journal(session_id)
    finally:
        await store.aclose()


async def said(store, session_id="s"):
    return [stored.message.text for stored in await store.messages(session_id)]


async def shown(store, session_id="s"):
    return [event.title for event in await store.events(session_id)]


def note(journal, text):
    journal.add_message(user(text))
    journal.add_event(Notice("info", text))


async def test_nothing_is_written_before_a_commit(tmp_path):
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        note(journal, "a")
        assert await said(store) == []
        await journal.commit()
        assert await said(store) == ["a"]


async def test_concurrent_commits_keep_the_order_and_double_nothing(tmp_path):
    async with session(tmp_path / "s.db") as (store, journal):
        commits = []
        for number in range(200):
            note(journal, str(number))
            if number % 3:
                commits.append(asyncio.ensure_future(journal.commit(durable=number % 7 == 0)))
            if number % 10 == 0:
                await asyncio.sleep(0.001)
        await asyncio.gather(*commits)
        await journal.commit()
        expected = [str(number) for number in range(200)]
        assert await said(store) == expected
        assert await shown(store) == expected


async def test_a_cancelled_commit_still_happens(tmp_path):
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        note(journal, "kept")
        waiter = asyncio.ensure_future(journal.commit())
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert await said(store) == ["kept"]
        note(journal, "next")
        await journal.commit()
        assert await said(store) == ["kept", "next"]


async def test_facts_noted_while_a_commit_runs_go_into_the_next(tmp_path):
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            note(journal, "first")
            running = asyncio.ensure_future(journal.commit())
            await asyncio.sleep(0.05)
            note(journal, "second")
            other.execute("ROLLBACK")
        await running
        assert await said(store) == ["first"]
        await journal.commit()
        assert await said(store) == ["first", "second"]


async def test_a_lock_that_stays_is_an_error_and_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        note(journal, "before")
        await journal.commit()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            note(journal, "during")
            with pytest.raises(StoreError, match="locked by another program"):
                await journal.commit(durable=True)
            note(journal, "still")
            waiting = [asyncio.ensure_future(journal.commit()) for _ in range(2)]
            outcomes = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [StoreError, StoreError]
            assert await said(store) == ["before"]
            other.execute("ROLLBACK")
        note(journal, "after")
        await journal.commit()
        assert await said(store) == ["before", "during", "still", "after"]
        assert await shown(store) == ["before", "during", "still", "after"]


async def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path):
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        pages = await store._run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
        await store._run(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchall())
        big = "x" * 100_000
        note(journal, big)
        with pytest.raises(StoreError, match="full"):
            await journal.commit()
        assert await said(store) == []
        await store._run(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchall())
        note(journal, "after")
        await journal.commit()
        assert await said(store) == [big, "after"]
        assert await shown(store) == [big, "after"]


async def test_writing_to_a_deleted_session_is_an_error_and_makes_nothing(tmp_path):
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        await store.delete("s")
        note(journal, "late")
        with pytest.raises(StoreError, match="deleted"):
            await journal.commit()
        assert await store.find("s") is None
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (0,)


async def test_a_segment_has_the_messages_it_begins_with_and_those_after_it(tmp_path):
    async with session(tmp_path / "s.db") as (store, journal):
        assert journal.segment_id == "s"
        journal.begin_turn()
        note(journal, "before")
        await journal.commit()
        journal.begin_segment([user("instead")])
        note(journal, "after")
        assert await said(store) == ["before"]
        await journal.commit()
        assert await said(store) == ["instead", "after"]
        assert await shown(store) == ["before", "after"]
        assert await said(store, journal.segment_id) == ["instead", "after"]
        assert (await store.journal("s")).segment_id == journal.segment_id


async def test_a_turn_that_is_dropped_after_a_segment_began_leaves_what_the_segment_began_with(tmp_path):
    async with session(tmp_path / "s.db") as (store, journal):
        journal.begin_turn()
        note(journal, "before")
        journal.begin_segment([user("instead")])
        journal.begin_turn()
        note(journal, "refused")
        journal.drop_turn()
        await journal.commit()
        assert await said(store) == ["instead"]


async def test_a_segment_whose_write_failed_is_written_by_the_next_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    path = tmp_path / "s.db"
    async with session(path) as (store, journal):
        note(journal, "before")
        await journal.commit()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            journal.begin_segment([user("instead")])
            with pytest.raises(StoreError):
                await journal.commit()
            other.execute("ROLLBACK")
        note(journal, "after")
        await journal.commit()
        assert await said(store) == ["instead", "after"]


async def test_a_field_that_a_session_has_not_is_refused_at_once(tmp_path):
    async with session(tmp_path / "s.db") as (store, journal):
        with pytest.raises(TypeError, match="colour"):
            journal.update(colour="red")
        note(journal, "a")
        await journal.commit()
        assert await said(store) == ["a"]


WRITER = """
import asyncio, os, sys
from pathlib import Path
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.events import Notice
from hermes_acp.messages import user

async def main(path, session_id, count):
    store = await Store.open(Path(path))
    await store.create(SessionRecord(session_id, "/p", prompted=True))
    journal = await store.journal(session_id)
    for number in range(int(count)):
        journal.begin_turn()
        for part in "ab":
            journal.add_message(user(f"{number}{part}"))
            journal.add_event(Notice("info", f"{number}{part}"))
        await journal.commit(durable=number % 5 == 0)
        os.write(1, f"{number}\\n".encode())
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def writer(path, session_id, count, program=WRITER):
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path), session_id, str(count)], cwd=REPOSITORY, stdout=subprocess.PIPE
    )


async def test_what_a_killed_writer_reported_is_there_and_whole(tmp_path):
    path = tmp_path / "s.db"
    for victim in range(3):
        child = writer(path, f"s{victim}", 100_000)
        reported = [child.stdout.readline() for _ in range(20 + 17 * victim)]
        os.kill(child.pid, signal.SIGKILL)
        reported += child.stdout.read().splitlines(keepends=True)
        child.wait()
        child.stdout.close()
        last = max(int(line) for line in reported if line.endswith(b"\n"))
        store = await Store.open(path)
        assert store.problem == ""
        texts = await said(store, f"s{victim}")
        assert texts[: 2 * last + 2] == [f"{number}{part}" for number in range(last + 1) for part in "ab"]
        assert len(texts) in (2 * last + 2, 2 * last + 4)
        assert await shown(store, f"s{victim}") == texts
        await store.aclose()


async def test_two_programs_write_one_store(tmp_path):
    path = tmp_path / "s.db"
    children = [writer(path, session_id, 200) for session_id in ("left", "right")]
    for child in children:
        output, _ = await asyncio.to_thread(child.communicate, timeout=60)
        assert child.returncode == 0
        assert len(output.splitlines()) == 200
    store = await Store.open(path)
    for session_id in ("left", "right"):
        assert await said(store, session_id) == [f"{number}{part}" for number in range(200) for part in "ab"]
    assert len(await store.list(None, None, 9)) == 2
    await store.aclose()


TIMED = (
    WRITER.replace("import asyncio,", "import time, asyncio,")
    .replace("await journal.commit(durable=number % 5 == 0)", "began = time.monotonic(); await journal.commit(True)")
    .replace('f"{number}\\n"', 'f"{time.monotonic() - began}\\n"')
)


@pytest.mark.slow
async def test_six_programs_of_250_turns_lose_none_and_none_waits_for_a_second(tmp_path):
    path = tmp_path / "s.db"
    await (await Store.open(path)).aclose()
    names = [f"s{number}" for number in range(6)]
    children = [writer(path, name, 250, TIMED) for name in names]
    outputs = [(await asyncio.to_thread(child.communicate, timeout=120))[0].split() for child in children]
    assert [len(output) for output in outputs] == [250] * 6
    longest = max(float(seconds) for output in outputs for seconds in output)
    print(f"6 programs of 250 turns each on one store: the longest commit took {1000 * longest:.0f} ms")
    store = await Store.open(path)
    for name in names:
        assert await said(store, name) == [f"{number}{part}" for number in range(250) for part in "ab"]
    await store.aclose()
    assert longest < 1.0
