"""Searching past sessions: what is found, in which order, and what an older or poorer database does."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.agent.store import searching, word_index
from hermes_acp.agent.store.database import open_database
from hermes_acp.agent.store.records import Search, SessionRecord
from hermes_acp.agent.store.schema import all_or_nothing
from hermes_acp.agent.store.store import Store
from hermes_acp.events import PlanEntry
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user

OLDER = Path(__file__).parent.parent / "data" / "store_version_1.sql"


def looking(*words, besides="", cwd=None, limit=10):
    return Search(words, besides, cwd, limit)


async def say(store, session_id, *messages, cwd="/p", updated_at="2026-01-01", new=True):
    if new:
        await store.create(SessionRecord(session_id, cwd, title=f"About {session_id}", updated_at=updated_at))
    journal = await store.journal(session_id)
    journal.begin_turn()
    journal.update(prompted=True)
    for message in messages:
        journal.add_message(message)
    await journal.commit()
    return journal


async def ids(store, search):
    return [found.session.id for found in await store.search(search)]


@pytest.fixture
async def store(tmp_path):
    store = await Store.open(tmp_path / "sessions.db")
    yield store
    await store.aclose()


@pytest.fixture
def without_full_text(monkeypatch):
    """A Python whose SQLite has no FTS5."""
    for module in (word_index, searching):
        monkeypatch.setattr(module, "has_full_text", lambda connection: False)


async def test_the_best_place_of_each_session_with_what_was_said_around_it(store):
    call = AssistantMessage("Let me see.", tool_calls=(ToolCall("c", "read_file", {}),))
    result = ToolMessage("c", "read_file", "comma comma comma")
    await say(store, "a", user("Hello."), call, result, AssistantMessage("A comma was lost."), user("Thanks, comma!"))
    await say(
        store, "b", user("Count the commas, comma by comma."), AssistantMessage("Seven."), updated_at="2026-02-02"
    )
    await say(store, "c", user("Nothing of the kind."))
    found = {each.session.id: each for each in await store.search(looking("comma"))}
    assert set(found) == {"a", "b"}
    assert found["b"].session.title == "About b"
    assert [(said.role, said.text, said.found) for said in found["b"].said] == [
        ("user", "Count the commas, comma by comma.", True),
        ("assistant", "Seven.", False),
    ]
    assert [said.text for said in found["a"].said if said.found] == ["Thanks, comma!"]
    assert "comma comma comma" not in str(found)


async def test_all_the_words_come_first_and_any_of_them_only_when_there_is_nothing_else(store):
    await say(store, "both", user("red and blue"))
    await say(store, "one", user("red red red"))
    assert await ids(store, looking("red", "blue")) == ["both"]
    assert set(await ids(store, looking("red", "green"))) == {"both", "one"}


async def test_beginnings_accents_case_and_parts_of_names_are_found(store):
    await say(store, "a", user("Die Größe von parse_number im TOKENIZER"))
    for word in ("tokeni", "Große", "parse_number", "number"):
        assert await ids(store, looking(word)) == ["a"], word


async def test_languages_without_spaces_are_found_by_their_parts(store):
    await say(store, "a", user("请修复词法分析器的错误"))
    assert await ids(store, looking("词法分析器")) == ["a"]


async def test_this_session_other_folders_and_unprompted_ones_are_left_out(store):
    for name, cwd in (("here", "/p"), ("there", "/q"), ("mine", "/p")):
        await say(store, name, user("the word"), cwd=cwd)
    await store.create(SessionRecord("empty", "/p"))
    assert await ids(store, looking("word", besides="mine", cwd="/p")) == ["here"]
    assert set(await ids(store, looking("word", besides="mine"))) == {"here", "there"}
    assert len(await ids(store, looking("word", limit=2))) == 2


async def test_what_is_dropped_or_deleted_is_not_found_and_gone_from_the_file(store, tmp_path):
    journal = await say(store, "a", user("Keep this."), AssistantMessage("Kept."))
    journal.begin_turn()
    journal.add_message(user("xylophonist"))
    await journal.commit()
    assert await ids(store, looking("xylophonist")) == ["a"]
    journal.drop_turn()
    await journal.commit()
    assert await ids(store, looking("xylophonist")) == []
    await say(store, "b", user("zyzzyvas everywhere"))
    assert await ids(store, looking("zyzzyvas")) == ["b"]
    await store.delete("b")
    assert await ids(store, looking("zyzzyvas")) == []
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"zyzzyvas" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


async def test_a_fork_is_found_by_itself(store):
    await say(store, "a", user("forked words"))
    await store.fork("a", "f")
    assert set(await ids(store, looking("forked"))) == {"a", "f"}
    assert await ids(store, looking("forked", besides="a")) == ["f"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=8).map(lambda text: f"a{text}".encode("utf-8", "ignore").decode())))
async def test_no_words_are_syntax(words):
    store = await Store.open(None)
    await say(store, "a", user('AND OR NEAR( "a" * col:x ^ - { } %_\\'))
    for word in (*words, '"', "AND", "a*b", "x:y", "NEAR(a b)", "%", "a\\"):
        assert isinstance(await store.search(looking(word.replace("\0", "") or "x", "a")), list)
    await store.aclose()


def older(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLDER.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")


async def test_an_older_database_is_brought_forward_and_found_in_from_the_first_search_on(tmp_path):
    older(tmp_path / "sessions.db")
    store = await Store.open(tmp_path / "sessions.db")
    assert store.problem == ""
    assert len(await store.messages("s1")) == 4
    assert await store.plan("s1") == (PlanEntry("mend", status="completed"),)
    await say(store, "s1", user("And the scanner?"), new=False)
    assert set(await ids(store, looking("tokenizer", cwd="/p"))) == {"s1", "s2"}
    assert await ids(store, looking("scanner")) == ["s1"]
    [found] = await store.search(looking("numbers"))
    assert [said.text for said in found.said] == [
        "Please mend the tokenizer of Numbers.",
        "I look.",
        "Mended: a comma was lost.",
    ]
    await store.aclose()


async def test_older_messages_are_added_in_small_steps_each_once(tmp_path):
    older(tmp_path / "sessions.db")
    store = await Store.open(tmp_path / "sessions.db")
    steps = [await store._run(word_index.add_older_words, 2) for _ in range(6)]
    assert steps == [True, True, True, True, False, False]
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM said").fetchone() == (9,)
        assert connection.execute("SELECT count(*) FROM words WHERE words MATCH 'mended'").fetchone() == (3,)


async def test_without_full_text_words_are_read_for_and_nothing_else_changes(tmp_path, without_full_text):
    older(tmp_path / "sessions.db")
    store = await Store.open(tmp_path / "sessions.db")
    await say(store, "new", user("100% of the Tokenizer"))
    assert await ids(store, looking("tokenizer", "of")) == ["new", "s3", "s2", "s1"]
    assert await ids(store, looking("100%")) == ["new"]
    assert await ids(store, looking("_")) == []
    await store.delete("new")
    assert await ids(store, looking("100%")) == []
    await store.aclose()


async def test_an_index_that_a_poorer_python_left_behind_catches_up(tmp_path, monkeypatch):
    path = tmp_path / "sessions.db"
    rich = await Store.open(path)
    await say(rich, "a", user("first"))
    await rich.aclose()
    with monkeypatch.context() as patch:
        for module in (word_index, searching):
            patch.setattr(module, "has_full_text", lambda connection: False)
        poor = await Store.open(path)
        await say(poor, "b", user("second"))
        assert await ids(poor, looking("second")) == ["b"]
        await poor.aclose()
    again = await Store.open(path)
    assert (await ids(again, looking("second")), await ids(again, looking("first"))) == (["b"], ["a"])
    await say(again, "c", user("third"))
    assert await ids(again, looking("third")) == ["c"]
    await again.aclose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")


def test_texts_can_be_deleted_as_often_as_one_likes():
    connection = open_database(None).connection
    connection.execute("PRAGMA foreign_keys = OFF")

    def say(*texts):
        with all_or_nothing(connection):
            return [connection.execute("INSERT INTO said (text) VALUES (?)", (text,)).lastrowid for text in texts]

    say("A heron.")
    for _ in range(2_500):
        deleted = say("A kestrel.") + say("It flew.")
        say("A swift.")
        with all_or_nothing(connection):
            connection.executemany("DELETE FROM said WHERE seq = ?", [(number,) for number in deleted])
            word_index.forget_deleted_words(connection)
    found = connection.execute("SELECT count(*) FROM words WHERE words MATCH 'heron OR swift'").fetchone()
    assert found == (2_501,)
    assert b"kestrel" not in b"".join(block for (block,) in connection.execute("SELECT block FROM words_data"))


DAMAGE = "UPDATE words_data SET block = x'00000000' || x'870f870f870f870f' WHERE id = 10"
"""The record of the levels tells of more than 2,000 of them."""


async def test_a_damaged_index_is_made_anew_and_nothing_else_is_touched(store, tmp_path):
    await say(store, "a", user("A heron."))
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as other, other:
        other.execute(DAMAGE)
    await say(store, "b", user("Another heron."))
    assert sorted(await ids(store, looking("heron"))) == ["a", "b"]
    assert not list(tmp_path.glob("*.damaged"))


async def test_a_damaged_index_is_made_anew_by_a_search_too(store, tmp_path):
    await say(store, "a", user("A heron."))
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as other, other:
        other.execute(DAMAGE)
    assert await ids(store, looking("heron")) == ["a"]
