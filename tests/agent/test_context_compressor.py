"""Compaction keeps order, pairs, the last words and the facts, and always makes smaller."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.context_compressor import ContextCompressor, is_summary
from hermes_acp.agent.context_engine import Context, ContextTooLarge
from hermes_acp.agent.gauge import Gauge, size_of_messages
from hermes_acp.agent.history import find_disorder
from hermes_acp.errors import ProviderError
from hermes_acp.messages import AssistantMessage, Image, ToolCall, ToolMessage, UserMessage, user

FACT = re.compile(r"FACT-\w+")


def count(messages):
    return Gauge().tokens(size_of_messages(messages))


def context(messages, window=8_000, ask=None, around=500, focus=""):
    return Context(messages, around, window, count, ask or facts_of, focus)


async def facts_of(question):
    """A summariser that says nothing but the facts it finds."""
    return " ".join(dict.fromkeys(FACT.findall(question))) or "Nothing."


def turn(number, answer="It is done.", calls=1, result="fine", text=""):
    made = tuple(ToolCall(f"call_{number}_{at}", "read_file", {"path": f"{number}.txt"}) for at in range(calls))
    results = [ToolMessage(call.id, call.name, result) for call in made]
    asked = [AssistantMessage("Looking.", tool_calls=made)] if made else []
    return [user(text or f"Task {number}."), *asked, *results, AssistantMessage(answer)]


def talk(turns, **more):
    return [message for number in range(turns) for message in turn(number, **more)]


def test_when_it_is_due():
    engine = ContextCompressor()
    assert [engine.is_due(used, 1000, "turn_start") for used in (500, 501)] == [False, True]
    for moment in ("before_call", "turn_end"):
        assert [engine.is_due(used, 1000, moment) for used in (850, 851)] == [False, True]


async def test_old_results_are_shortened_before_any_model_is_asked():
    async def never(question):
        raise AssertionError("asked")

    messages = [*talk(4, result="x" * 6000), *talk(5)]
    compaction = await ContextCompressor().compact(context(messages, ask=never))
    assert compaction.summary == ""
    assert find_disorder(compaction.messages) is None
    assert compaction.messages[-20:] == tuple(messages[-20:])
    assert all("left out" in one.text for one in compaction.messages[:16] if isinstance(one, ToolMessage))


async def test_the_middle_becomes_a_summary_and_the_last_messages_stay():
    messages = [*turn(0, text="Task FACT-one."), *talk(60, answer="word " * 60)]
    compaction = await ContextCompressor().compact(context(messages))
    assert compaction.summary == "FACT-one"
    assert is_summary(compaction.messages[0])
    assert compaction.messages[-20:] == tuple(messages[-20:])
    assert count(compaction.messages) < count(messages) / 2


async def test_a_fact_survives_any_number_of_compactions():
    messages = [*turn(0, text="Remember FACT-first.")]
    for number in range(30):
        messages += [*turn(number, text=f"FACT-{number}"), *talk(20, answer="word " * 60)]
        messages = list((await ContextCompressor().compact(context(messages))).messages)
        assert find_disorder(messages) is None
    assert "FACT-first" in messages[0].text
    assert sum(map(is_summary, messages)) == 1


async def test_fewer_than_the_protected_messages_stay_when_these_do_not_fit():
    messages = [*talk(8), *talk(4, answer="long " * 1200)]
    compaction = await ContextCompressor().compact(context(messages))
    assert 0 < len(compaction.messages) < 20
    assert compaction.messages[-1] == messages[-1]


async def test_in_the_middle_of_a_turn_its_prompt_and_its_last_step_stay():
    steps = [message for number in range(30) for message in turn(number, result="y " * 600)[1:3]]
    messages = [*talk(10), user("The long task FACT-now."), *steps]
    compaction = await ContextCompressor().compact(context(messages))
    assert find_disorder(compaction.messages) is None
    assert user("The long task FACT-now.") in compaction.messages
    assert compaction.messages[-2:] == tuple(messages[-2:])


async def test_a_result_too_large_for_the_window_is_shortened_with_a_note():
    messages = [user("Read it."), *turn(1, result="z" * 200_000)[1:3]]
    compaction = await ContextCompressor().compact(context(messages))
    assert "left out" in compaction.messages[-1].text
    assert count(compaction.messages) < 8_000


async def test_what_cannot_fit_is_an_error_that_says_what_is_so_large():
    with pytest.raises(ContextTooLarge, match="8000 tokens is too small"):
        await ContextCompressor().compact(context([user("word " * 20_000)]))


async def test_nothing_to_leave_out_is_no_compaction():
    assert await ContextCompressor().compact(context(talk(3))) is None


async def test_pictures_of_old_results_are_left_out():
    seen = ToolMessage("call_0_0", "read_file", "A picture.", images=(Image("QUJD", "image/png"),))
    first = turn(0)
    messages = [*first[:2], seen, first[3], *talk(7, answer="word " * 100)]
    compaction = await ContextCompressor(threshold=0.6).compact(context(messages, window=7_500))
    assert not any(one.images for one in compaction.messages if isinstance(one, ToolMessage))


async def test_a_summariser_with_a_small_context_is_asked_in_smaller_pieces():
    asked = []

    async def small(question):
        asked.append(len(question))
        if len(question) > 8_000:
            raise ProviderError("too long", kind="context_overflow")
        return await facts_of(question)

    messages = [*turn(0, text="FACT-a"), *talk(80, answer="word " * 60), *turn(9, text="FACT-b"), *talk(6)]
    compaction = await ContextCompressor().compact(context(messages, ask=small))
    assert {"FACT-a", "FACT-b"} <= set(compaction.summary.split())
    assert asked[-1] <= 8_000


async def test_a_failing_summariser_is_an_error():
    async def broken(question):
        raise ProviderError("down", kind="server")

    with pytest.raises(ProviderError, match="down"):
        await ContextCompressor().compact(context(talk(60, answer="word " * 60), ask=broken))


async def test_an_empty_summary_is_none():
    async def silent(question):
        return "  "

    with pytest.raises(ProviderError, match="no summary"):
        await ContextCompressor().compact(context(talk(60, answer="word " * 60), ask=silent))


async def test_the_focus_is_told_to_the_summariser():
    asked = []

    async def ask(question):
        asked.append(question)
        return "Summary."

    await ContextCompressor().compact(context(talk(60, answer="word " * 60), ask=ask, focus="the database"))
    assert "the database" in asked[0]


words = st.text(max_size=400) | st.integers(0, 3000).map(lambda length: "w " * length)
turns = st.lists(
    st.builds(turn, st.integers(0, 99), answer=words, calls=st.integers(0, 3), result=words, text=words), max_size=12
)


@given(turns, st.integers(300, 20_000), st.integers(0, 30), st.integers(0, 5))
async def test_whatever_the_history_the_outcome_is_valid_and_smaller(turns, window, protected, cut):
    messages = [message for one in turns for message in one]
    messages = [one for one in messages if not (isinstance(one, UserMessage) and not one.text)] or [user("hi")]
    while cut and len(messages) > 1:
        cut -= 1
        messages = messages[:-1]
    if find_disorder(messages):
        return
    try:
        compaction = await ContextCompressor(protect_last_n=protected).compact(context(messages, window, around=0))
    except ContextTooLarge:
        return
    if compaction is None:
        return
    assert find_disorder(compaction.messages) is None
    last_words = [one for one in messages if isinstance(one, UserMessage)][-1]
    assert last_words in compaction.messages
    assert type(compaction.messages[-1]) is type(messages[-1])
