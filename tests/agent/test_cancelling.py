"""A cancel at any moment of a turn, and a store that fails: the records stay in good order."""

import asyncio

import pytest

from hermes_acp.agent.history import INTERRUPTED, find_disorder
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import StoreError
from hermes_acp.events import StatusChanged, TextDelta, ToolFinished, ToolStarted
from hermes_acp.messages import AssistantMessage, ToolMessage, user
from hermes_acp.testing import RecordingHost
from tests.support.turns import FailingJournal, agent, call, calls, cancel_when, kept


async def test_cancel_in_mid_stream_keeps_no_partial_answer_in_the_messages(talk, store):
    host = RecordingHost()
    scripted = Scripted(AssistantMessage("a b c d e f g h"), AssistantMessage("next"), delay=0.05)
    await cancel_when(run_turn(agent(provider=scripted), talk, user("hi"), host), lambda: host.of(TextDelta))
    assert await kept(store) == [user("hi"), INTERRUPTED]
    shown = [event for event in await store.events("s") if isinstance(event, TextDelta)]
    assert "".join(event.text for event in shown) == "".join(event.text for event in host.of(TextDelta))
    result = await run_turn(agent(provider=scripted), talk, user("again"), RecordingHost())
    assert result.text == "next"
    assert find_disorder(scripted.requests[1].messages) is None


async def test_cancel_during_a_question_closes_the_card(talk, store):
    host = RecordingHost(None)
    turn = run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host)
    await cancel_when(turn, host.asked.is_set)
    [ended] = host.of(ToolFinished)
    assert ended.result.is_error
    assert find_disorder(await kept(store)) is None


async def test_cancel_keeps_the_calls_that_had_finished(talk, store, tmp_path):
    (tmp_path / "a").write_text("content of a\n")
    host = RecordingHost()
    reply = calls(call("read_file", "1", path="a"), call("terminal", "2", command="sleep 60"))
    turn = run_turn(agent(reply), talk, user("go"), host)
    await cancel_when(turn, lambda: host.of(ToolFinished) and len(host.of(ToolStarted)) == 2)
    results = {message.call_id: message for message in await kept(store) if isinstance(message, ToolMessage)}
    assert "content of a" in results["1"].text
    assert results["2"].is_error


async def test_a_second_cancel_does_not_lose_the_results(talk, store, tmp_path):
    host = RecordingHost(None)
    task = asyncio.create_task(run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host))
    await host.asked.wait()
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert find_disorder(talk.messages) is None
    assert find_disorder(await kept(store)) is None


async def test_a_cancel_is_a_cancel_also_when_the_store_fails(talk):
    talk.journal = FailingJournal(talk.journal, good=2)
    host = RecordingHost(None)
    turn = run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host)
    await cancel_when(turn, host.asked.is_set)
    assert host.of(ToolFinished)[0].result.is_error
    assert [status.kind for status in host.of(StatusChanged)][-1] == "idle"


async def test_a_turn_that_cannot_be_stored_is_an_error(talk):
    talk.journal = FailingJournal(talk.journal, good=1)
    with pytest.raises(StoreError):
        await run_turn(agent(AssistantMessage("hello")), talk, user("hi"), RecordingHost())
