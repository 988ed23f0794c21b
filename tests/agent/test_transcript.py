"""Cards that a kill has left open are ended when they are shown again."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.history import INTERRUPTED_RESULT
from hermes_acp.agent.transcript import with_ended_cards, with_ended_past
from hermes_acp.cards import ToolResult
from hermes_acp.events import TextDelta, ToolFinished, ToolPrepared, UserPrompted
from hermes_acp.messages import user
from tests.agent.store.strategies import events

PROMPT = UserPrompted(user("go"), "m")


def card(call_id):
    return ToolPrepared(call_id, "terminal", "execute", "Run")


def end(call_id, text="ok"):
    return ToolFinished(call_id, "terminal", ToolResult(text, is_error=text != "ok"))


def test_an_open_card_ends_where_its_turn_ends():
    text = TextDelta("next", "m2")
    shown = [PROMPT, card("a"), card("b"), end("a"), PROMPT, text, card("c")]
    closed = [end(call_id, INTERRUPTED_RESULT) for call_id in ("b", "c")]
    assert list(with_ended_cards(shown)) == [*shown[:4], closed[0], *shown[4:], closed[1]]


def test_what_has_ended_stays_as_it_is():
    shown = [PROMPT, card("a"), end("a"), PROMPT, card("a"), end("a", "failed")]
    assert list(with_ended_cards(shown)) == shown


@given(st.lists(events | st.sampled_from([PROMPT, card("a"), end("a")]), max_size=12))
def test_nothing_is_lost_or_moved_and_every_card_ends(shown):
    result = list(with_ended_cards(shown))
    rest = iter(result)
    assert all(any(event == each for each in rest) for event in shown), "in the same order"
    for index, event in enumerate(result):
        if isinstance(event, ToolPrepared):
            later = [each for each in result[index:] if isinstance(each, ToolFinished)]
            assert event.call_id in [each.call_id for each in later]


def test_the_cards_of_a_turn_that_still_runs_stay_open():
    shown = [PROMPT, card("a"), PROMPT, card("b")]
    assert list(with_ended_past(shown)) == [*shown[:2], end("a", INTERRUPTED_RESULT), *shown[2:]]
