"""Sessions come back from the disk as they were given to it."""

import asyncio
import os
import sqlite3
import time
from contextlib import asynccontextmanager, closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.agent.store.codec import merged
from hermes_acp.agent.store.records import SessionRecord, StoredMessage, now
from hermes_acp.agent.store.store import Store
from hermes_acp.cards import ToolResult
from hermes_acp.errors import SessionNotFound, StoreError
from hermes_acp.events import TextDelta, ToolFinished, UserPrompted
from hermes_acp.messages import AssistantMessage, ToolMessage, user
from tests.agent.store.strategies import events, messages, words


@asynccontextmanager
async def opened(path):
    store = await Store.open(path)
    try:
        yield store
    finally:
        await store.aclose()


def sql(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        return [connection.execute(*statement).fetchall() for statement in statements]


async def prompted(store, session_id, cwd="/p", updated_at=None):
    await store.create(SessionRecord(session_id, cwd, updated_at=updated_at or now(), prompted=True))


async def test_a_session_comes_back_whole_in_another_store(tmp_path):
    path = tmp_path / "home" / "sessions.db"
    record = SessionRecord(
        "s1", "/a b", ("/x", "/ü"), "Título", "2026-01-01", "2026-01-02", {"mode": "plan"}, True, "You are\n…"
    )
    async with opened(path) as store:
        assert store.problem == ""
        await store.create(record)
    async with opened(path) as store:
        assert await store.find("s1") == record


async def test_a_new_session_is_given_its_times(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        created = await store.create(SessionRecord("s1", "/p"))
        assert created.created_at == created.updated_at
        assert created.created_at.endswith("Z")
        assert await store.find("s1") == created


async def test_an_unknown_session_is_not_found_and_not_made(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        assert await store.find("nope") is None
        assert await store.find("\ud800") is None
        for method in (store.messages, store.events, store.journal):
            with pytest.raises(SessionNotFound):
                await method("nope")
        assert await store.find("nope") is None


async def test_an_id_is_given_once(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        await store.create(SessionRecord("s1", "/first"))
        with pytest.raises(StoreError):
            await store.create(SessionRecord("s1", "/second"))
        assert (await store.find("s1")).cwd == "/first"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(events, max_size=6), max_size=3), st.lists(messages, max_size=6), words)
def test_facts_come_back_in_order(batches, said, title):
    async def check():
        async with opened(None) as store:
            await store.create(SessionRecord("s", "/p"))
            journal = await store.journal("s")
            for batch in batches:
                journal.begin_turn()
                for event in batch:
                    journal.add_event(event)
                await journal.commit()
            for message in said:
                journal.add_message(message)
            journal.update(title=title, prompted=True, options={"mode": title})
            await journal.commit(durable=True)
            shown = [event for batch in batches for event in batch]
            assert await store.events("s") == list(merged(shown))
            assert [stored.message for stored in await store.messages("s")] == said
            assert {stored.turn for stored in await store.messages("s")} <= {journal.turn}
            record = await store.find("s")
            assert (record.title, record.prompted, record.options) == (title, True, {"mode": title})

    asyncio.run(check())


async def test_turns_go_on_counting_after_a_restart(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await store.create(SessionRecord("s", "/p"))
        journal = await store.journal("s")
        assert [journal.begin_turn(), journal.begin_turn()] == [1, 2]
        journal.add_message(user("hi"))
        await journal.commit()
    async with opened(path) as store:
        journal = await store.journal("s")
        assert journal.turn == 2
        assert journal.begin_turn() == 3


async def test_a_refused_turn_leaves_the_messages_and_stays_in_the_transcript(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        await store.create(SessionRecord("s", "/p"))
        journal = await store.journal("s")
        for text in ("good", "bad"):
            journal.begin_turn()
            journal.add_message(user(text))
            journal.add_event(UserPrompted(user(text), text))
            await journal.commit()
        journal.add_message(AssistantMessage("half"))
        journal.drop_turn()
        journal.add_event(TextDelta("no", "m"))
        await journal.commit()
        assert await store.messages("s") == [StoredMessage(1, user("good"))]
        assert len(await store.events("s")) == 3
        journal.begin_turn()
        journal.add_message(user("next"))
        await journal.commit()
        assert [stored.message for stored in await store.messages("s")] == [user("good"), user("next")]


async def test_listing_shows_prompted_sessions_newest_first_in_pages(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        for number in range(10):
            await prompted(store, f"s{number}", updated_at=f"2026-01-0{number // 2 + 1}")
        await store.create(SessionRecord("empty", "/p"))
        seen, after = [], None
        while page := await store.list(None, after, 3):
            seen += [record.id for record in page]
            after = (page[-1].updated_at, page[-1].id)
        assert seen == [f"s{number}" for number in reversed(range(10))]


async def test_listing_filters_by_the_exact_folder(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        for session_id, cwd in (("a", "/p"), ("b", "/p/"), ("c", "/P"), ("d", "/p/q"), ("e", "/p%")):
            await prompted(store, session_id, cwd)
        assert [record.id for record in await store.list("/p", None, 50)] == ["a"]
        assert await store.list("/none", None, 50) == []
        assert await store.list(None, None, 0) == []


async def test_a_session_moves_up_in_the_list_when_it_is_used(tmp_path):
    async with opened(tmp_path / "s.db") as store:
        await prompted(store, "old", updated_at="2026-01-01")
        await prompted(store, "new", updated_at="2026-01-02")
        journal = await store.journal("old")
        journal.update(updated_at="2026-01-03", title="Used")
        await journal.commit()
        assert [(record.id, record.title) for record in await store.list(None, None, 9)] == [
            ("old", "Used"),
            ("new", ""),
        ]


async def test_deleting_takes_everything_and_succeeds_twice(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        for session_id in ("gone", "kept"):
            await prompted(store, session_id)
            journal = await store.journal(session_id)
            journal.add_message(user("x"))
            journal.add_event(TextDelta("x", "m"))
            await journal.commit()
        await store.delete("gone")
        await store.delete("gone")
        await store.delete("never")
        assert await store.find("gone") is None
        assert [record.id for record in await store.list(None, None, 9)] == ["kept"]
        assert len(await store.events("kept")) == 1
    counts = sql(path, *[(f"SELECT count(*) FROM {name}",) for name in ("segments", "messages", "transcript")])
    assert counts == [[(1,)], [(1,)], [(1,)]]


async def test_deleted_words_are_gone_from_the_file(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await prompted(store, "s")
        journal = await store.journal("s")
        journal.add_message(user("a-secret-word " * 2000))
        await journal.commit()
    assert b"a-secret-word" in path.read_bytes()
    async with opened(path) as store:
        await store.delete("s")
    assert b"a-secret-word" not in path.read_bytes()


async def test_any_segment_leads_to_its_lineage(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await prompted(store, "root")
        journal = await store.journal("root")
        journal.begin_turn()
        journal.add_message(user("long ago"))
        journal.add_event(TextDelta("first", "m1"))
        await journal.commit()
        columns = "id, session_id, parent_segment_id, created_at"
        sql(path, (f"INSERT INTO segments ({columns}) VALUES ('child', 'root', 'root', '')",))
        assert (await store.find("child")).id == "root"
        journal = await store.journal("child")
        assert journal.begin_turn() == 2
        journal.add_message(user("summary"))
        journal.add_event(TextDelta("second", "m2"))
        await journal.commit()
        for any_id in ("root", "child"):
            assert await store.messages(any_id) == [StoredMessage(2, user("summary"))]
            assert await store.events(any_id) == [TextDelta("first", "m1"), TextDelta("second", "m2")]
        assert len(await store.list(None, None, 9)) == 1
        await store.delete("child")
        assert await store.find("root") is None


async def test_records_of_a_later_version_are_skipped(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await prompted(store, "s")
        journal = await store.journal("s")
        journal.add_event(TextDelta("a", "m"))
        await journal.commit()
        sql(path, ("INSERT INTO transcript (session_id, turn, kind, body) VALUES ('s', 1, 'hologram', '{}')",))
        assert await store.events("s") == [TextDelta("a", "m")]


async def test_what_people_say_is_readable_by_its_owner_only(tmp_path):
    path = tmp_path / "home" / "s.db"
    async with opened(path) as store:
        await prompted(store, "s")
        assert [oct(os.stat(file).st_mode & 0o077) for file in path.parent.iterdir()] == ["0o0"] * 3
        assert oct(path.parent.stat().st_mode & 0o077) == "0o0"


async def test_a_closed_store_says_so(tmp_path):
    store = await Store.open(tmp_path / "s.db")
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreError, match="closed"):
        await store.find("s")


async def test_what_was_handed_in_is_written_before_closing(tmp_path):
    path = tmp_path / "s.db"
    store = await Store.open(path)
    await store.create(SessionRecord("s", "/p"))
    journal = await store.journal("s")
    journal.add_message(user("last words"))
    waiting = asyncio.ensure_future(journal.commit())
    await asyncio.sleep(0)
    await store.aclose()
    await waiting
    assert sql(path, ("SELECT count(*) FROM messages",)) == [[(1,)]]


async def test_a_thousand_sessions_stay_quick(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await prompted(store, "big")
        journal = await store.journal("big")
        for _ in range(200):
            journal.add_message(ToolMessage("c", "read", "line\n" * 200))
            journal.add_event(ToolFinished("c", "read", ToolResult("line\n" * 200)))
        await journal.commit()
        rows = [(f"s{n}", f"/p{n % 7}", "2026-01-01", "x" * 10_000) for n in range(1000)]
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executemany("INSERT INTO sessions VALUES (?, ?, '[]', '', '', ?, '{}', 1, ?, 0)", rows)
        listing = await quickest(lambda: store.list(None, None, 50))
        filtered = await quickest(lambda: store.list("/p3", None, 50))
        loading = await quickest(lambda: asyncio.gather(store.messages("big"), store.events("big")))
    assert max(listing, filtered) <= 0.02
    assert loading <= 0.05


async def quickest(action):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        await action()
        times.append(time.perf_counter() - start)
    return min(times)


async def test_a_store_that_could_not_be_opened_is_opened_by_the_next_call(tmp_path):
    path = tmp_path / "s.db"
    async with opened(path) as store:
        await store.create(SessionRecord("old", "/p"))
    path.rename(tmp_path / "kept")
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    store = Store(path)
    store.begin()
    for _ in range(2):
        with pytest.raises(StoreError, match="newer"):
            await store.find("old")
    await store.aclose()
    (tmp_path / "kept").rename(path)
    assert (await store.find("old")).id == "old"
    await store.aclose()


async def test_a_store_that_nobody_needed_closes(tmp_path):
    store = Store(tmp_path / "s.db")
    await store.aclose()
    assert list(tmp_path.iterdir()) == []
