"""A chain of models: who is asked, with what, and what the person sees of it."""

import asyncio
from dataclasses import replace

import pytest

from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.cooldown import Cooldown
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.fallback import BACK, FALLS_BACK, Fallback, Link
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.agent.providers.retry import Backoff, Retrying
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import ProviderError
from hermes_acp.events import ModelSwitched, ReasoningDelta, StatusChanged, TextDelta, ToolDrafted, ToolFinished
from hermes_acp.messages import AssistantMessage, Opaque, ToolCall, ToolMessage, user
from tests.fakes.model_server import Call, ModelServer, Raw, Say, Status, fail
from tests.support.asking import HELLO, READ_FILE, ask

MODES = ("chat_completions", "codex_responses", "anthropic_messages")
FIRST = AssistantMessage("from the first")
SECOND = AssistantMessage("from the second")


def failure(kind="overloaded", **more):
    return ProviderError("busy", kind=kind, **more)


def chain(*scripts, rest=60.0):
    """A chain of scripted models named "a", "b", …, and the models."""
    models = [Scripted(*script) for script in scripts]
    links = [Link(label, model, Cooldown(rest)) for label, model in zip("abc", models, strict=False)]
    return Fallback(links), models


def switches(asked):
    return [(delta.model, delta.reason) for delta in asked.of(ModelSwitched)]


def mid_turn(answering):
    said = AssistantMessage(tool_calls=(ToolCall("call_1", "read_file"),))
    messages = [user("hello"), said, ToolMessage("call_1", "read_file", "x")]
    return Request("", messages, tools=[READ_FILE], answering=answering)


@pytest.mark.parametrize("kind", sorted(FALLS_BACK))
async def test_the_next_model_answers_the_same_request_when_the_first_cannot(kind):
    provider, (first, second) = chain([failure(kind)], [SECOND])
    asked = await ask(provider)
    assert asked.message == SECOND
    assert first.requests == second.requests == [HELLO]
    assert switches(asked) == [("b", "busy")]
    assert [delta.text for delta in asked.of(StatusChanged) if delta.kind == "fallback"] == ["busy Asking b."]
    kinds = [type(delta) for delta in asked.deltas]
    assert kinds.index(ModelSwitched) < kinds.index(TextDelta)


@pytest.mark.parametrize("kind", ["bad_request", "context_overflow"])
async def test_a_request_that_no_model_could_take_is_not_given_to_another(kind):
    provider, (_, second) = chain([failure(kind), FIRST], [SECOND])
    assert (await ask(provider)).error.kind == kind
    assert second.requests == []
    assert (await ask(provider)).message == FIRST


async def test_never_after_some_of_the_answer_was_shown():
    provider, (_, second) = chain([[TextDelta("The answer ", "msg_1"), failure("network")]], [SECOND])
    asked = await ask(provider)
    assert (asked.error.kind, asked.text, second.requests) == ("network", "The answer ", [])


async def test_after_thoughts_and_drafts_only_with_closed_cards_and_new_ids():
    broken = [ReasoningDelta("hm", "thought_1"), ToolDrafted("call_1", "read_file"), failure("network")]
    provider, _ = chain([broken], [AssistantMessage("fine", "well")])
    asked = await ask(provider)
    assert [delta.call_id for delta in asked.of(ToolFinished)] == ["call_1"]
    kinds = [type(delta) for delta in asked.deltas]
    assert kinds.index(ToolFinished) < kinds.index(ModelSwitched) < kinds.index(TextDelta)
    assert len({delta.message_id for delta in asked.of(ReasoningDelta)}) == 2


async def test_a_model_that_failed_rests_and_the_conversation_is_told_once():
    provider, (first, second) = chain([failure()], [SECOND, SECOND])
    await ask(provider)
    asked = await ask(provider, replace(HELLO, answering="b"))
    assert switches(asked) == []
    assert (len(first.requests), len(second.requests)) == (1, 2)


async def test_another_conversation_is_told_why_it_is_answered_by_a_reserve():
    provider, (first, _) = chain([failure()], [SECOND, SECOND])
    await ask(provider)
    assert switches(await ask(provider)) == [("b", "busy")]
    assert len(first.requests) == 1


async def test_the_first_one_is_asked_again_by_the_next_turn_and_that_is_told():
    provider, (first, _) = chain([failure(), FIRST, FIRST], [SECOND], rest=0.0)
    await ask(provider)
    asked = await ask(provider, replace(HELLO, answering="b"))
    assert (asked.message, switches(asked)) == (FIRST, [("a", BACK)])
    assert switches(await ask(provider, replace(HELLO, answering="a"))) == []
    assert len(first.requests) == 3


async def test_a_turn_stays_with_the_model_that_has_taken_it_over():
    provider, (first, second) = chain([failure()], [SECOND, SECOND], rest=0.0)
    await ask(provider)
    asked = await ask(provider, mid_turn(answering="b"))
    assert (asked.message, switches(asked)) == (SECOND, [])
    assert (len(first.requests), len(second.requests)) == (1, 2)


async def test_one_that_fails_again_rests_longer(monkeypatch):
    now = [0.0]
    rest = Cooldown(60.0, lambda: now[0])
    first = Scripted(failure(), failure(), FIRST)
    provider = Fallback([Link("a", first, rest), Link("b", Scripted(*[SECOND] * 9), Cooldown())])
    asked = []
    for now[0] in (0, 59, 60, 61, 179, 181):
        await ask(provider)
        asked.append(len(first.requests))
    assert asked == [1, 1, 2, 2, 2, 3]


async def test_the_chain_is_asked_in_order_and_its_error_names_them_all():
    provider, models = chain(
        [failure("rate_limit", status=429, retry_after=90.0)], [failure("auth")], [failure("network")]
    )
    asked = await ask(provider)
    assert str(asked.error) == "busy b failed too: busy c failed too: busy"
    assert (asked.error.kind, asked.error.status, asked.error.retry_after) == ("rate_limit", 429, 90.0)
    assert switches(asked) == []
    assert [len(model.requests) for model in models] == [1, 1, 1]


async def test_when_all_rest_all_are_asked_again():
    provider, (first, _) = chain([failure(), FIRST], [failure()])
    await ask(provider)
    assert (await ask(provider)).message == FIRST
    assert len(first.requests) == 2


async def test_one_that_rests_is_asked_when_no_other_can_answer():
    provider, (first, second) = chain([failure(), FIRST], [SECOND, failure("auth")])
    await ask(provider)
    asked = await ask(provider, replace(HELLO, answering="b"))
    assert (asked.message, switches(asked)) == (FIRST, [("a", BACK)])
    assert (len(first.requests), len(second.requests)) == (2, 2)


async def test_a_continuation_is_not_given_to_another_model(server, connect):
    """The first half of an answer was shown: what cannot be continued is cut, and the next turn is the first's."""
    async with ModelServer() as other:
        server.say(Say("half ", finish="length"), fail(401, "expired"), "Here again.")
        one, two = connect(), connect(base_url=other.url)
        provider = Fallback([Link("a", Continued(one), Cooldown()), Link("b", Continued(two), Cooldown())])
        asked = await ask(provider)
        assert (asked.message.text, asked.reply.finish) == ("half ", "length")
        assert other.requests == []
        assert (await ask(provider)).message.text == "Here again."


async def test_leaving_early_closes_the_stream_below():
    provider, (first, _) = chain([FIRST], [])
    stream = provider.stream(HELLO)
    await anext(stream)
    await stream.aclose()
    assert first.closed == 1


# Over HTTP, with two servers


@pytest.fixture
async def other():
    async with ModelServer() as server:
        yield server


@pytest.fixture
def two(connect, server, other):
    """A chain of two endpoints, each with a key of its own, as the settings make it."""
    one = connect(provider="one", model="big", api_key="sk-one-0123456789")
    reserve = connect(provider="two", model="small", api_key="sk-two-0123456789", base_url=other.url)
    backoff = Backoff(first=0.0)
    return Fallback(
        [
            Link("big", Continued(Retrying(one, backoff)), Cooldown()),
            Link("small (two)", Continued(Retrying(reserve, backoff)), Cooldown()),
        ]
    )


def told(server):
    """What a server was asked: with which key, which model, by what last message."""
    return [
        (request.headers["authorization"], request.body["model"], request.messages[-1]["content"])
        for request in server.requests
    ]


BUSY = Status(429, headers={"retry-after": "0"})

FAILURES = {
    "529": ([Status(529)] * 3, 3),
    "500": ([Status(500)] * 3, 3),
    "429": ([BUSY] * 3, 3),
    "429 with a long wait": ([Status(429, headers={"retry-after": "61"})], 1),
    "401": ([fail(401, "Incorrect API key provided")], 1),
    "403": ([fail(403, "forbidden")], 1),
    "402": ([fail(402, "payment required")], 1),
    "404 of the model": ([fail(404, "The model `big` does not exist")], 1),
    "400 that names the model": ([fail(400, "The model big is not available in your region")], 1),
    "400 that names the quota": ([fail(400, "You exceeded your current quota", code="insufficient_quota")], 1),
    "400 that names the provider": ([fail(400, "Provider returned error")], 1),
    "reset": ([Say("", ending="reset")] * 3, 3),
    "overloaded within the stream": ([Say("", error={"type": "overloaded_error", "message": "Overloaded"})] * 3, 3),
    "a web page": ([Status(200, "<html>")] * 3, 3),
}


@pytest.mark.parametrize("failed", FAILURES)
async def test_the_reserve_is_asked_with_its_own_key_and_the_whole_history(two, server, other, failed):
    replies, times = FAILURES[failed]
    server.say(*replies)
    other.say("I can help.")
    history = [user("one"), AssistantMessage("two"), user("three")]
    asked = await ask(two, Request("Be good.", history))
    assert asked.message.text == "I can help."
    assert told(server) == [("Bearer sk-one-0123456789", "big", "three")] * times
    assert told(other) == [("Bearer sk-two-0123456789", "small", "three")]
    assert other.requests[0].messages == server.requests[0].messages
    assert [message["content"] for message in other.requests[0].messages] == ["Be good.", "one", "two", "three"]
    assert server.problems == other.problems == []


@pytest.mark.parametrize(
    ("status", "message", "param"),
    [
        (400, "Invalid schema for function 'read_file'", "tools[0].function.parameters"),
        (400, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'", "messages"),
        (400, "This model's maximum context length is 8192 tokens", None),
        (413, "Request too large", None),
        (422, "Unprocessable request", None),
    ],
)
async def test_a_400_about_the_request_itself_goes_nowhere_else(two, server, other, status, message, param):
    server.say(fail(status, message, param=param))
    assert (await ask(two)).error.status == status
    assert other.requests == []


async def test_nothing_answers_at_the_first_address(connect, other):
    one = connect(provider="one", base_url="http://127.0.0.1:9/v1")
    links = [
        Link("a", Retrying(one, Backoff(first=0.0)), Cooldown()),
        Link("b", connect(base_url=other.url), Cooldown()),
    ]
    asked = await ask(Fallback(links))
    assert asked.message.text == "Done."
    [(_, reason)] = switches(asked)
    assert "connection" in reason


async def test_thoughts_go_back_to_their_own_model_only(two, server, other):
    """Spec, section 2: dropped for the reserve, and replayed to the first one when it is back."""
    call = Call("read_file", {"path": "a"})
    server.say(Say(calls=[call], reasoning="secret thoughts"), fail(401, "no"), "Back.")
    other.say(Say(calls=[call], reasoning="other thoughts"))
    first = (await ask(two)).message
    assert (first.opaque.provider, first.opaque.model) == ("one", "big")
    history = [*HELLO.messages, first, ToolMessage(first.tool_calls[0].id, "read_file", "x")]
    second = (await ask(two, Request("", history, tools=[READ_FILE]))).message
    assert second.opaque == Opaque("two", "small", {"reasoning_content": "other thoughts"})
    assert "thoughts" not in str(other.requests)
    history += [second, ToolMessage(second.tool_calls[0].id, "read_file", "x")]
    two._links[0].rest.end()
    await ask(two, Request("", history, tools=[READ_FILE]))
    assert "secret thoughts" in str(server.requests[-1].messages)
    assert "other thoughts" not in str(server.requests[-1].messages)


async def test_half_a_call_of_the_first_never_becomes_a_call_of_the_second(two, server, other):
    pieces = Say(calls=[Call("write_file", '{"path": "a", "content": "half')], ending="cut")
    server.say(pieces, pieces, pieces)
    other.say(Say(calls=[Call("read_file", {"path": "b"})]))
    asked = await ask(two)
    assert asked.calls == [("read_file", {"path": "b"})]
    drafted = [call_id for call_id, _ in asked.drafted]
    assert [delta.call_id for delta in asked.of(ToolFinished)] == drafted[:3]


async def test_a_cancel_while_the_first_is_awaited_asks_nobody_else(two, server, other):
    server.say(Raw([], "stall"))
    task = asyncio.create_task(ask(two))
    await server.until(lambda server: server.requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.until(lambda server: server.aborted)
    assert other.requests == []


@pytest.mark.parametrize("first", MODES)
@pytest.mark.parametrize("second", MODES)
async def test_a_turn_with_calls_goes_on_at_a_reserve_of_another_api(server, other, first, second):
    """The fake is as strict as the real servers: calls, results and thoughts must be in order in each API."""
    one = RemoteModel(Endpoint("one", "big", server.url), api_of(first))
    two = RemoteModel(Endpoint("two", "small", other.url), api_of(second))
    provider = Fallback([Link("big", Continued(one), Cooldown()), Link("small", Continued(two), Cooldown())])
    call = Call("read_file", {"path": "a"})
    server.say(Say("Look.", [call, call], "secret thoughts"), Status(401))
    other.say("Read.")
    reply = (await ask(provider)).message
    results = [ToolMessage(each.id, "read_file", f"content of {each.id}") for each in reply.tool_calls]
    asked = await ask(provider, Request("Be good.", [*HELLO.messages, reply, *results], tools=[READ_FILE]))
    assert asked.message.text == "Read."
    assert server.problems == other.problems == []
    [request] = other.requests
    assert all(f"content of {each.id}" in str(request.body) for each in reply.tool_calls)
    assert "secret thoughts" not in str(request.body)
    await one.aclose()
    await two.aclose()
