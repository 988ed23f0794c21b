"""The notes on what is used up: at which calls, and for how long."""

import pytest

from hermes_acp.agent.notices import mark_reached, notes_for


@pytest.mark.parametrize(
    ("calls", "said"), [(0, ""), (349, ""), (350, "350 of 500"), (449, "Work towards"), (450, "finish"), (500, "")]
)
def test_the_calls_of_a_turn_are_told_from_70_and_from_90_percent_on(calls, said):
    notes = notes_for(calls, 500, 0, 0)
    assert len(notes) == bool(said)
    assert said in "".join(notes)


@pytest.mark.parametrize(("used", "said"), [(39_999, ""), (40_000, "40 %"), (74_999, "74 %"), (75_000, "small parts")])
def test_the_window_is_told_from_40_and_from_75_percent_on(used, said):
    notes = notes_for(0, 500, used, 100_000)
    assert len(notes) == bool(said)
    assert said in "".join(notes)


def test_a_window_that_is_not_known_is_not_spoken_of():
    assert notes_for(1, 500, 10**9, 0) == ()


@pytest.mark.parametrize("allowed", [1, 2, 3, 7, 10, 50, 500])
def test_the_person_is_told_once_at_each_mark_that_lies_before_the_end(allowed):
    told = [calls for calls in range(1, allowed) if mark_reached(calls, allowed)]
    marks = {-(-percent * allowed // 100) for percent in (70, 90)}
    assert told == sorted(mark for mark in marks if mark < allowed)
