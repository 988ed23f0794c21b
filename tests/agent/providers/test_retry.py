"""Asking again: when it helps, and never after the answer has begun."""

import asyncio

import pytest

from hermes_acp.agent.providers.base import Reply
from hermes_acp.agent.providers.retry import Backoff, Retrying
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import RETRYABLE, ProviderError
from hermes_acp.events import Notice, ReasoningDelta, StatusChanged, TextDelta, ToolDrafted, ToolFinished
from hermes_acp.messages import AssistantMessage
from tests.fakes.model_server import Call, Say, Status
from tests.support.asking import HELLO, ask

ANSWER = AssistantMessage("the answer")


def failure(kind="overloaded", **more):
    return ProviderError("busy", kind=kind, **more)


@pytest.fixture
def slept():
    return []


@pytest.fixture
def retrying(slept):
    """Wraps a script; its waits are noted, not waited."""

    async def sleep(seconds):
        slept.append(seconds)

    return lambda *script: Retrying(Scripted(*script), Backoff(jitter=lambda: 1.0), sleep)


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
async def test_a_passing_failure_is_asked_again_and_told_as_a_status_only(retrying, slept, kind):
    asked = await ask(retrying(failure(kind), failure(kind), ANSWER))
    assert asked.message == ANSWER
    assert slept == [2.0, 4.0]
    assert [delta.kind for delta in asked.of(StatusChanged)] == ["retrying", "retrying"]
    assert asked.of(Notice) == []


@pytest.mark.parametrize("kind", ["auth", "bad_request", "context_overflow", "model_unavailable"])
async def test_a_lasting_failure_is_raised_at_once(retrying, slept, kind):
    provider = retrying(failure(kind), ANSWER)
    assert (await ask(provider)).error.kind == kind
    assert slept == []


async def test_the_third_failure_is_raised(retrying):
    asked = await ask(retrying(failure(), failure("server"), failure("network"), ANSWER))
    assert asked.error.kind == "network"


async def test_waits_double_up_to_a_minute_and_are_lengthened_by_jitter():
    backoff = Backoff(attempts=10, jitter=lambda: 1.1)
    waits = [backoff.wait(failures, failure()) for failures in range(1, 10)]
    assert waits == pytest.approx([2.2, 4.4, 8.8, 17.6, 35.2, 60, 60, 60, 60])
    assert all(2.0 <= Backoff().wait(1, failure()) <= 2.5 for _ in range(50))


async def test_the_wait_that_a_server_asks_for_is_kept(retrying, slept):
    await ask(retrying(failure("rate_limit", retry_after=7.5), failure("rate_limit", retry_after=0.0), ANSWER))
    assert slept == [7.5, 0.0]


async def test_a_wait_over_a_minute_is_not_waited(retrying, slept):
    asked = await ask(retrying(failure("rate_limit", retry_after=61.0), ANSWER))
    assert (asked.error.retry_after, slept) == (61.0, [])


async def test_after_the_answer_has_begun_the_failure_is_raised(retrying, slept):
    provider = retrying([TextDelta("some ", "msg_1"), ToolDrafted("call_1", "read_file"), failure()], ANSWER)
    asked = await ask(provider)
    assert (asked.error.kind, slept) == ("overloaded", [])
    assert [delta.call_id for delta in asked.of(ToolFinished)] == ["call_1"]


async def test_blank_text_is_no_answer_yet(retrying):
    asked = await ask(retrying([TextDelta("\n", "msg_1"), failure()], ANSWER))
    assert asked.message == ANSWER


async def test_drafts_and_thoughts_of_a_broken_attempt_are_closed_and_told(retrying):
    broken = [
        ReasoningDelta("hm", "thought_1"),
        ToolDrafted("call_1", "read_file"),
        ToolDrafted("call_2", "write_file"),
        failure("incomplete"),
    ]
    asked = await ask(retrying(broken, AssistantMessage("fine", "well")))
    finished = asked.of(ToolFinished)
    assert [(one.call_id, one.name, one.result.is_error) for one in finished] == [
        ("call_1", "read_file", True),
        ("call_2", "write_file", True),
    ]
    kinds = [type(delta) for delta in asked.deltas]
    assert kinds.index(ToolFinished) < kinds.index(Notice) < kinds.index(StatusChanged) < kinds.index(TextDelta)
    assert len({delta.message_id for delta in asked.of(ReasoningDelta)}) == 2


async def test_drafts_are_closed_even_when_no_attempt_follows(retrying):
    asked = await ask(retrying([ToolDrafted("call_1", "read_file"), failure("bad_request")]))
    assert [delta.call_id for delta in asked.of(ToolFinished)] == ["call_1"]
    assert asked.error.kind == "bad_request"


async def test_cancelling_ends_the_wait():
    provider = Retrying(Scripted(failure(), ANSWER))
    task = asyncio.create_task(ask(provider))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_leaving_early_closes_the_stream_below(slept):
    script = Scripted(ANSWER)
    stream = Retrying(script).stream(HELLO)
    await anext(stream)
    await stream.aclose()
    assert script.closed == 1


async def test_over_http_a_cut_thought_is_asked_again_with_new_ids(server, provider):
    call = Call("read_file", {"path": "a"})
    server.say(
        Say("", [call], "hm", ending="cut"), Status(429, headers={"retry-after": "0"}), Say("ok", [call], "well")
    )
    asked = await ask(Retrying(provider, Backoff(first=0.0)))
    assert isinstance(asked.deltas[-1], Reply)
    assert asked.thought == "hmwell"
    first, second = asked.drafted
    assert [delta.call_id for delta in asked.of(ToolFinished)] == [first[0]]
    assert [call.id for call in asked.message.tool_calls] == [second[0]]
    assert len(server.requests) == 3
