"""How long a model that failed is left alone."""

import pytest

from hermes_acp.agent.providers.cooldown import LONGEST, LONGEST_ASKED, Cooldown
from hermes_acp.errors import ProviderError


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def failure(**more):
    return ProviderError("busy", kind="overloaded", **more)


def rest_of(cooldown, clock):
    """Seconds until it is over, by the clock."""
    began = clock.now
    while not cooldown.over:
        clock.now += 1
    return clock.now - began


def test_it_grows_with_every_failure_after_a_rest_and_begins_anew_after_an_answer(clock):
    cooldown = Cooldown(60.0, clock)
    assert cooldown.over
    rests = []
    for _ in range(6):
        cooldown.begin(failure())
        rests.append(rest_of(cooldown, clock))
    assert rests == [60, 120, 240, 480, LONGEST, LONGEST]
    cooldown.end()
    cooldown.begin(failure())
    assert rest_of(cooldown, clock) == 60


def test_twenty_sessions_that_fail_together_are_one_failure(clock):
    cooldown = Cooldown(60.0, clock)
    for _ in range(20):
        cooldown.begin(failure())
    assert rest_of(cooldown, clock) == 60


def test_a_longer_time_that_the_server_asks_for_is_kept_up_to_an_hour(clock):
    cooldown = Cooldown(60.0, clock)
    cooldown.begin(failure(retry_after=300.0))
    cooldown.begin(failure())
    assert rest_of(cooldown, clock) == 300
    cooldown.begin(failure(retry_after=1e9))
    assert rest_of(cooldown, clock) == LONGEST_ASKED


def test_an_answer_ends_it_at_once(clock):
    cooldown = Cooldown(60.0, clock)
    cooldown.begin(failure())
    assert (cooldown.over, cooldown.reason) == (False, "busy")
    cooldown.end()
    assert cooldown.over
