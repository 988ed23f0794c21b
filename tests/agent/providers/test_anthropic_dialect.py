"""What a server of the Messages API refuses is done otherwise from then on."""

import json

import pytest

from hermes_acp.agent.providers.anthropic_dialect import MessagesDialect, adapted
from hermes_acp.agent.providers.anthropic_messages import API
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.errors import ProviderError
from hermes_acp.messages import AssistantMessage, ToolMessage, user
from tests.fakes.anthropic_replies import refused
from tests.fakes.model_server import Call, ModelServer, Say, fail
from tests.support.asking import HELLO, READ_FILE, after_call, ask

CALL = Call("read_file", {"path": "a"})


@pytest.fixture
def api():
    return API


def thinking_hard(level="high"):
    return Request("Be good.", HELLO.messages, HELLO.tools, thought_level=level)


async def step(provider, *history):
    """The messages of a step that the model takes: its reply, and the results of its calls."""
    said = (await ask(provider, Request("", [user("hi"), *history], [READ_FILE]))).message
    return [said, *(ToolMessage(call.id, call.name, "content") for call in said.tool_calls)]


@pytest.mark.parametrize("field", ["cache_control", "thinking", "output_config", "display", "is_error"])
async def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(field):
    async with ModelServer(refused=(field,)) as server:
        provider = RemoteModel(Endpoint("fake", "claude-opus-5-5", server.url), API)
        request = after_call()
        failed = ToolMessage("call_1", "read_file", "no", is_error=True)
        request = Request("Be good.", [*request.messages[:2], failed], request.tools, thought_level="low")
        assert (await ask(provider, request)).text == "Done."
        assert (await ask(provider, request)).text == "Done."
        await provider.aclose()
    assert len(server.problems) == 1
    assert len(server.requests) == 3
    assert field not in json.dumps(server.requests[-1].body)


async def test_thoughts_that_are_refused_are_dropped_once_and_later_ones_are_kept(server, provider):
    server.say(Say("", [CALL], "one"))
    history = await step(provider)
    server.wire("/v1/messages")._given.clear()
    server.say(Say("", [CALL], "two"))
    history += await step(provider, *history)
    assert server.problems == ["messages.1.content.0: Invalid `signature` in `thinking` block"]
    server.problems.clear()
    assert (await ask(provider, Request("", [user("hi"), *history], [READ_FILE]))).text == "Done."
    assert server.problems == []
    sent = [[block["type"] for block in one["content"]] for one in server.requests[-1].messages]
    assert sent == [["text"], ["tool_use"], ["tool_result"], ["thinking", "tool_use"], ["tool_result"]]


async def test_a_server_that_refuses_thoughts_in_other_words_gets_none(server, provider):
    server.say(Say("", [CALL], "one"))
    history = await step(provider)
    server.say(fail(400, "unknown variant `thinking`, expected one of `text`, `image`, `tool_use`, `tool_result`"))
    assert (await ask(provider, Request("", [user("hi"), *history], [READ_FILE]))).text == "Done."
    assert "thinking" not in json.dumps(server.requests[-1].messages)


NEWER = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".'
)
OLDER = "adaptive thinking is not supported on this model"


@pytest.mark.parametrize(
    ("model", "refusal", "form"), [("fake", NEWER, "adaptive"), ("claude-sonnet-5", OLDER, "enabled")]
)
async def test_a_model_that_thinks_in_the_other_form_is_asked_in_it(server, connect, model, refusal, form):
    provider = connect(model=model)
    server.say(refused(refusal))
    assert (await ask(provider, thinking_hard())).text == "Done."
    assert (await ask(provider, thinking_hard())).text == "Done."
    assert [one.body["thinking"]["type"] == form for one in server.requests] == [False, True, True]


async def test_a_model_that_thinks_in_neither_form_is_asked_without(server, connect):
    provider = connect(model="claude-sonnet-5")
    server.say(refused(OLDER), refused("`thinking` is not available for this model"))
    assert (await ask(provider, thinking_hard())).text == "Done."
    assert "thinking" not in server.requests[-1].body


@pytest.mark.parametrize("level", ["off", "none"])
async def test_a_model_that_cannot_be_kept_from_thinking_is_left_to_it(server, connect, level):
    server.say(refused("thinking.type.disabled is not supported by this model"))
    assert (await ask(connect(model="claude-fable-5"), thinking_hard(level))).text == "Done."
    assert [one.body.get("thinking") for one in server.requests] == [{"type": "disabled"}, None]


async def test_an_effort_that_the_model_does_not_know_is_left_out(server, connect):
    server.say(refused("output_config.effort: 'xhigh' is not supported by this model"))
    assert (await ask(connect(model="claude-opus-4-6"), thinking_hard("xhigh"))).text == "Done."
    assert [("thinking" in one.body, "output_config" in one.body) for one in server.requests] == [
        (True, True),
        (True, False),
    ]


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-x", 8192),
        ("Invalid max_tokens value, the valid range of max_tokens is up to 4096", 4096),
        ("input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, decrease either", 11_760),
        ("This model's maximum context length is 16384 tokens and your request has 9000 input tokens", 7384),
    ],
)
async def test_an_answer_longer_than_the_server_allows_is_asked_for_shorter(server, connect, words, most):
    server.say(refused(words))
    provider = connect(model="claude-sonnet-4-5")
    assert (await ask(provider)).text == "Done."
    assert [one.body["max_tokens"] for one in server.requests] == [32_000, most]


async def test_room_that_was_short_in_a_long_conversation_is_not_short_in_a_shorter_one(server, connect):
    provider = connect(model="claude-sonnet-4-5")
    long = Request("", [user("a"), AssistantMessage("b"), user("c")])
    server.say(refused("input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000"))
    await ask(provider, long)
    await ask(provider, HELLO)
    await ask(provider, long)
    assert [one.body["max_tokens"] for one in server.requests] == [32_000, 11_760, 32_000, 11_760]


async def test_a_window_that_has_no_room_for_an_answer_is_an_overflow(server, provider):
    server.say(refused("input length and `max_tokens` exceed context limit: 199900 + 8192 > 200000"))
    failed = await ask(provider)
    assert (failed.error.kind, len(server.requests)) == ("context_overflow", 1)


async def test_a_400_that_adapting_does_not_cure_is_raised(server, provider):
    server.script(lambda body: refused("cache_control, thinking, signature and max_tokens: 8192 > 9000 are wrong"))
    error = (await ask(provider, thinking_hard())).error
    assert (error.kind, error.status) == ("bad_request", 400)
    assert len(server.requests) <= 8


@pytest.mark.parametrize("status", [401, 403, 429, 500, None])
def test_only_a_refusal_of_the_request_itself_teaches_anything(status):
    error = ProviderError("cache_control", kind="server", status=status)
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text", "cache_control": {}}]}]}
    assert adapted(MessagesDialect(), error, body) == MessagesDialect()


async def test_fields_of_the_same_name_in_what_calls_are_given_are_none_of_the_requests(server, provider):
    call = Say(calls=[Call("read_file", {"display": "x"})])
    server.say(call)
    history = await step(provider)
    server.say(refused("display: Extra inputs are not permitted"))
    assert (await ask(provider, Request("", [user("hi"), *history], [READ_FILE]))).error.kind == "bad_request"
