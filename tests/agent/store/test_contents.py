"""Contents are kept once, small, come back byte for byte, and take no more than their share."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.store import contents
from hermes_acp.agent.store.changes import FileBefore, TurnKey, note_before, note_prompt, read_past_turn
from hermes_acp.agent.store.contents import content_of, keep_content
from hermes_acp.agent.store.database import open_database, transaction
from hermes_acp.agent.store.queries import delete_session, insert_session
from hermes_acp.agent.store.records import SessionRecord


@pytest.fixture
def connection():
    connection = open_database(None).connection
    insert_session(connection, SessionRecord("s", "/p"))
    yield connection
    connection.close()


def size(connection):
    return connection.execute("SELECT coalesce(sum(length(data)), 0), count(*) FROM contents").fetchone()


def edit(connection, turn, data, path="/p/a", session="s"):
    with transaction(connection):
        key = TurnKey(session, turn, "w")
        note_prompt(connection, key, None)
        note_before(connection, key, FileBefore(Path(path), data, data, 0o644, None, b"after"))


def versions(count, lines=2_000):
    """A text file that is edited in another place each time."""
    dice = random.Random(5)
    text = [f"line {dice.random()}\n" for _ in range(lines)]
    for number in range(count):
        text[dice.randrange(lines)] = f"edited {number}\n"
        yield "".join(text).encode()


@given(st.lists(st.binary(max_size=300) | st.text(alphabet="ab", max_size=300).map(str.encode), min_size=1))
def test_each_content_comes_back_whatever_it_was_likened_to(datas):
    connection = open_database(None).connection
    digests, last = [], None
    for data in datas:
        last = keep_content(connection, data, last)
        digests.append(last)
    assert [content_of(connection, digest) for digest in digests] == datas
    assert size(connection)[1] == len(set(datas))
    connection.close()


def test_fifty_edits_of_a_file_cost_a_few_copies_and_all_come_back(connection):
    every = list(versions(50))
    for turn, data in enumerate(every, 1):
        edit(connection, turn, data)
    packed, count = size(connection)
    single = open_database(None).connection
    keep_content(single, every[0], None)
    assert count == 50
    assert packed < 5 * size(single)[0]
    single.close()
    for data in every:
        assert content_of(connection, contents.digest_of(data)) == data


def test_beyond_the_bound_the_oldest_are_let_go_and_said_to_be(connection, monkeypatch):
    monkeypatch.setattr(contents, "KEPT_BYTES", 100_000)
    every = [os.urandom(30_000) for _ in range(40)]
    for turn, data in enumerate(every, 1):
        edit(connection, turn, data, path=f"/p/{turn}")
        assert size(connection)[0] <= 100_000
    assert content_of(connection, contents.digest_of(every[0])) is None
    [last] = read_past_turn(connection, "s", "w", 0).files
    assert last.held == every[-1]
    connection.execute("UPDATE turns SET undone = 1 WHERE turn > 1")
    [first] = read_past_turn(connection, "s", "w", 0).files
    assert first.existed
    assert first.held is None


def test_a_content_over_the_limit_is_known_but_not_kept(connection, monkeypatch):
    monkeypatch.setattr(contents, "KEPT_FILE_BYTES", 10)
    edit(connection, 1, b"eleven byte")
    [file] = read_past_turn(connection, "s", "w", 0).files
    assert (file.existed, file.held) == (True, None)
    assert size(connection) == (0, 0)


def test_deleting_a_session_takes_its_contents_and_leaves_those_of_others(connection):
    insert_session(connection, SessionRecord("other", "/p"))
    edit(connection, 1, b"only here")
    edit(connection, 2, b"shared")
    edit(connection, 1, b"shared", session="other")
    delete_session(connection, "s")
    assert content_of(connection, contents.digest_of(b"only here")) is None
    assert content_of(connection, contents.digest_of(b"shared")) == b"shared"
    delete_session(connection, "other")
    assert size(connection) == (0, 0)
