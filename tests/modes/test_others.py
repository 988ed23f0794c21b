"""The conversations on two model servers that others wrote, as far as these can hold them."""

import os
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from hermes_acp.agent.providers.retry import Backoff
from hermes_acp.config import API_MODES
from hermes_acp.messages import user
from tests.fakes.model_server import Say, Status
from tests.modes.others import AIMOCK_IS_MISSING, aimock, script_llmock
from tests.modes.stage import chained, endpoint, play, staged
from tests.modes.talks import READ_A, TALKS, Talk, told

pytestmark = pytest.mark.slow

PATIENT = Backoff(first=0.5)
THINKERS = {"anthropic_messages": "claude-sonnet-4-5"}
"""Models whose thoughts aimock sends; it knows which ones think."""

EVERY = [(mode, name) for mode in API_MODES for name in TALKS if name != "fallback"]
EVERY.remove(("codex_responses", "refusal"))
ON_AIMOCK = [one for one in EVERY if one != ("anthropic_messages", "bad arguments")]
ON_LLMOCK = [(mode, name) for mode, name in EVERY if name != "reasoning"]


@pytest.fixture(params=API_MODES)
def mode(request):
    return request.param


@pytest.fixture
async def stack():
    async with AsyncExitStack() as stack:
        yield stack


async def held(stack, folder, talk, mode, *places):
    """The stage on which a conversation was held with the models at these endpoints."""
    chain = chained(*((mode, place) for place in places), backoff=PATIENT)
    stage = await stack.enter_async_context(staged(await stack.enter_async_context(chain), folder / "project", talk))
    await play(stage, talk)
    return stage


async def assert_went_as(talk, stage):
    assert told(await stage.messages()) == talk.messages
    assert stage.shown == talk.shown
    assert tuple(stage.stops) == talk.stops


# Without a network `make test` cannot install it; the run of CI must not pass without it.
needs_aimock = pytest.mark.skipif(AIMOCK_IS_MISSING and not os.environ.get("CI"), reason="aimock is not installed")


@needs_aimock
@pytest.mark.parametrize(("mode", "name"), ON_AIMOCK)
async def test_a_conversation_on_aimock(stack, tmp_path, mode, name):
    talk = TALKS[name]
    url = await stack.enter_async_context(aimock(tmp_path, talk.replies))
    place = replace(endpoint(f"{url}/v1"), model=THINKERS.get(mode, "gpt-5"))
    await assert_went_as(talk, await held(stack, tmp_path, talk, mode, place))


@needs_aimock
async def test_a_reserve_on_aimock(stack, tmp_path, mode):
    talk = TALKS["fallback"]
    urls = [await stack.enter_async_context(aimock(tmp_path, one)) for one in (talk.replies, talk.reserve)]
    places = [replace(endpoint(f"{url}/v1", name=url), model=THINKERS.get(mode, "gpt-5")) for url in urls]
    await assert_went_as(talk, await held(stack, tmp_path, talk, mode, *places))


def for_llmock(name: str) -> Talk:
    """A conversation as llmock can hold it: without thoughts, with arguments that are broken in its way, by
    being cut, and with words that have their space behind them."""
    talk = TALKS[name]
    if name == "length cut":
        talk = replace(talk, replies=talk.replies[:2], messages=talk.messages[:2], prompts=talk.prompts[:1])
        talk = replace(talk, shown="one two three.", stops=talk.stops[:1])
    cut = "The output was cut off by its"
    unthinking = (line.replace("[where] ", "").replace("[both] ", "") for line in talk.messages)
    messages = tuple(line.replace("The arguments are not valid JS", cut) for line in unthinking)
    return replace(talk, messages=messages, shown=talk.shown.replace("some text", "some text "))


def place_on(llmock, mode, **fields):
    base = llmock.base_url("anthropic" if mode == "anthropic_messages" else "openai")
    return replace(endpoint(base), **fields)


def assert_clean(llmock):
    """Neither errors nor warnings in llmock's verdict on its client."""
    verdict = llmock.verdict()
    assert verdict.findings == (), verdict.render()


@pytest.mark.parametrize(("mode", "name"), ON_LLMOCK)
async def test_a_conversation_on_llmock_and_its_verdict(llmock, stack, tmp_path, mode, name):
    talk = for_llmock(name)
    script_llmock(llmock, talk.replies)
    await assert_went_as(talk, await held(stack, tmp_path, talk, mode, place_on(llmock, mode)))
    assert_clean(llmock)


async def test_a_reserve_on_llmock_and_its_verdict(llmock, stack, tmp_path, mode):
    talk = Talk(
        (),
        ("user: go", "assistant: read_file{'path': 'a.txt'}", "read_file ok: 1 alpha", "assistant: Here I am."),
        "Here I am.",
    )
    script_llmock(llmock, [Status(500)] * 3)
    script_llmock(llmock, [Say(calls=[READ_A]), Say("Here I am.")], "reserve")
    places = (place_on(llmock, mode), place_on(llmock, mode, provider="reserve", model="reserve"))
    await assert_went_as(talk, await held(stack, tmp_path, talk, mode, *places))
    assert len(llmock.requests) == 5
    assert_clean(llmock)


GO = Talk((), ("user: go", "assistant: Hello there."), "Hello there.")
FAULTS = {
    "the rate limit": lambda llmock: llmock.rate_limit(times=2, retry_after=0.6),
    "an overload": lambda llmock: llmock.fail(529).fail(503),
    "a dropped connection": lambda llmock: llmock.disconnect(after_chunks=1, times=2),
    "a cut stream": lambda llmock: llmock.truncate(after_chunks=1, times=2),
    # It sees that a client has hung up only while it still has something to send.
    "bad JSON": lambda llmock: llmock.corrupt(after_chunks=1, times=2).pace(100),
    "a stall": lambda llmock: llmock.stall(after_chunks=1, seconds=2.5, times=2),
    "a late first word": lambda llmock: llmock.slow_first_token(0.3),
    "everything at once": lambda llmock: llmock.rate_limit(retry_after=0.3).truncate(after_chunks=1),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_llmock_finds_nothing_wrong_with_how_a_fault_is_met(llmock, stack, tmp_path, mode, fault):
    fault(llmock).reply("Hello there.", times=3).tool_mode("off")
    stage = await held(stack, tmp_path, GO, mode, place_on(llmock, mode, stall_timeout=1.0))
    await assert_went_as(GO, stage)
    assert_clean(llmock)


@pytest.mark.parametrize(("status", "asked"), [(500, 3), (401, 1), (400, 1), (404, 1), (429, 3)])
async def test_llmock_finds_nothing_wrong_with_how_an_outage_is_met(llmock, stack, tmp_path, mode, status, asked):
    llmock.outage(status=status)
    stage = await held(stack, tmp_path, GO, mode, place_on(llmock, mode))
    assert stage.stops[0] in ("server", "auth", "bad_request", "model_unavailable", "rate_limit")
    assert len(llmock.requests) == asked
    assert_clean(llmock)


@pytest.mark.parametrize("said", [Say("Hello there, person.", [READ_A])])
async def test_a_cut_after_the_first_word_is_an_error_not_an_answer(llmock, stack, tmp_path, mode, said):
    script_llmock(llmock, [said])
    llmock.truncate(after_chunks=6)
    stage = await held(stack, tmp_path, Talk((), (), ""), mode, place_on(llmock, mode))
    assert stage.stops == ["incomplete"]
    assert stage.shown
    assert said.text.startswith(stage.shown.strip())
    await stage.prompt(user("again"))
    assert len(llmock.requests) >= 2
