"""Names of servers' tools: allowed everywhere, never the same twice, kept."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.mcp.names import LONGEST, Names

ALLOWED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
anything = st.text(st.characters(), max_size=100) | st.sampled_from(["a", "a__b", "b__c", "c", "a.b", "a b", "\ud800"])


def test_a_plain_name_is_kept_and_others_are_cleaned() -> None:
    names = Names()
    assert names.of("files", "read_file") == "mcp__files__read_file"
    assert names.of("My Server", "do.it") == "mcp__My_Server__do_it"


@given(st.lists(st.tuples(anything, anything), max_size=30))
def test_every_name_is_allowed_unique_and_stable(pairs: list[tuple[str, str]]) -> None:
    names = Names()
    first = {pair: names.of(*pair) for pair in pairs}
    assert len(set(first.values())) == len(first)
    assert all(ALLOWED.fullmatch(name) and name.startswith("mcp__") for name in first.values())
    assert {pair: names.of(*pair) for pair in reversed(pairs)} == first


def test_long_names_that_differ_only_at_the_end_stay_apart_and_the_same_in_another_session() -> None:
    long = "x" * 100
    one, two = Names().of("s", long + "1"), Names().of("s", long + "2")
    assert one != two
    assert len(one) == len(two) == LONGEST
    assert Names().of("s", long + "1") == one
