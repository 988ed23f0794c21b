"""A list of sessions in a terminal that is narrower than it."""

import pytest

from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.cli.showing import table

TITLE, FOLDER = "Make all the tests pass", "/a/long/way/to/the/project"
ROWS = [
    (SessionRecord(f"{name}-0000-4000-8000-000000000000", FOLDER, title=TITLE), 3)
    for name in ("12345678", "12345679", "abcdefgh")
]


def test_where_there_is_room_or_no_terminal_nothing_is_cut():
    assert table(ROWS, 200) == table(ROWS)
    assert "12345678-0000-4000-8000-000000000000  Make all the tests pass  /a/long/way" in table(ROWS)


@pytest.mark.parametrize("columns", [80, 70])
def test_a_narrow_terminal_has_a_line_a_session_and_ids_that_still_name_one(columns):
    head, *lines = table(ROWS, columns).splitlines()
    assert max(map(len, [head, *lines])) <= columns
    assert [line.split()[0] for line in lines] == ["12345678", "12345679", "abcdefgh"]
    assert all("project" in line and "Make" in line for line in lines)


def test_ids_that_begin_alike_stay_as_long_as_it_takes():
    rows = [(SessionRecord(f"12345678-{letter}", "/p", title="T" * 40), 1) for letter in "ab"]
    assert [line.split()[0] for line in table(rows, 60).splitlines()[1:]] == ["12345678-a", "12345678-b"]
