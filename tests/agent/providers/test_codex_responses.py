"""A Responses server over real HTTP: its faults, its refusals, and what its own SDK makes of the same bytes."""

import asyncio
import base64
import json
import sys
import time
from dataclasses import replace

import openai
import pytest

from hermes_acp.agent.providers import reading
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.codex_responses import API
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.messages import AssistantMessage, Opaque, ToolCall, ToolMessage, user
from tests.agent.providers.conversations import PICTURE
from tests.fakes.model_server import Call, ModelServer, Raw, Say, fail
from tests.fakes.responses_replies import completed, event, events, raw_events
from tests.support.asking import HELLO, READ_FILE, ask

HI = event("output_text.delta", delta="hi", content_index=0)


@pytest.fixture
def api():
    return API


@pytest.mark.parametrize("ending", ["stall", "ping", "reset", "drop", "cut"])
async def test_a_stream_that_only_fails_to_end_after_its_last_event_is_whole(server, provider, monkeypatch, ending):
    monkeypatch.setattr(reading, "HANG_UP", 0.05)
    server.say(Raw((events(HI, completed()),), ending=ending))
    assert (await ask(provider)).message.text == "hi"


async def test_a_wrong_address_is_named(server, connect):
    asked = await ask(connect(base_url=server.url.removesuffix("/v1") + "/nowhere"))
    server.say(fail(404, "Not Found"))
    asked = await ask(connect(base_url=server.url + "/nowhere"))
    assert asked.error is not None
    assert f"{server.url}/nowhere/responses" in str(asked.error)


FIELDS = ["include", "parallel_tool_calls", "reasoning", "reasoning.effort", "reasoning.summary", "store"]


@pytest.mark.parametrize("name", FIELDS)
async def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(name):
    async with ModelServer(refused=(name,)) as server:
        provider = RemoteModel(Endpoint("fake", "fake", server.url), API)
        request = replace(HELLO, thought_level="low")
        assert (await ask(provider, request)).text == "Done."
        assert (await ask(provider, request)).text == "Done."
        await provider.aclose()
    bodies = [json.loads(json.dumps(one.body)) for one in server.requests]
    assert len(bodies) == 3
    outer, _, inner = name.partition(".")
    for body in bodies[1:]:
        assert inner not in body[outer] if inner else outer not in body
        assert len(body) == len(bodies[0]) - (not inner)


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("Encrypted content is not supported with this model.", "include"),
        ("Your organization must be verified to generate reasoning summaries.", "reasoning"),
    ],
)
async def test_what_openai_refuses_in_other_words_is_left_out(server, provider, words, gone):
    server.script(lambda body: fail(400, words) if gone in body else None)
    assert (await ask(provider)).text == "Done."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "words",
    [
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        "The encrypted content gAAA... could not be verified. Reason: it could not be decrypted or parsed.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
    ],
)
async def test_reasoning_that_is_refused_is_dropped_once_and_the_call_repeated(server, provider, words):
    server.say(Say(calls=[Call("read_file")], reasoning="hm"), Say(calls=[Call("read_file")], reasoning="hm hm"))
    first = (await ask(provider)).message
    history = [user("hello"), first, ToolMessage(first.tool_calls[0].id, "read_file", "ok")]
    server.script(lambda body: fail(400, words) if len(_reasoning(body)) == 1 else None)
    second = (await ask(provider, Request("", history, [READ_FILE]))).message
    assert [len(_reasoning(one.body)) for one in server.requests] == [0, 1, 0]
    server.script(lambda body: None)
    history += [second, ToolMessage(second.tool_calls[0].id, "read_file", "ok")]
    assert (await ask(provider, Request("", history, [READ_FILE]))).text == "Done."
    assert [one["id"] for one in _reasoning(server.requests[-1].body)] == [second.opaque.data["output"][0]["id"]]
    assert server.problems == []


def _reasoning(body):
    return [item for item in body["input"] if item["type"] == "reasoning"]


async def test_a_server_that_never_takes_reasoning_back_is_not_asked_a_third_time(server, provider):
    history = [user("hello")]
    for number in range(4):
        server.say(Say(calls=[Call("read_file", {"path": str(number)})], reasoning="hm"))
        message = (await ask(provider, Request("", history, [READ_FILE]))).message
        history += [message, ToolMessage(message.tool_calls[0].id, "read_file", "ok")]
        server.script(lambda body: fail(400, "invalid_encrypted_content") if _reasoning(body) else None)
    assert [len(_reasoning(one.body)) for one in server.requests] == [0, 1, 0, 1, 0, 0]


async def test_reasoning_of_another_account_of_the_same_provider_does_not_brick_a_session(server, provider):
    output = [
        {"type": "reasoning", "id": "rs_old", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_old"},
    ]
    said = AssistantMessage(
        tool_calls=(ToolCall("call_1", "read_file"),), opaque=Opaque("fake", "fake", {"output": output})
    )
    history = [user("hello"), said, ToolMessage("call_1", "read_file", "ok")]
    for _ in range(2):
        assert (await ask(provider, Request("", history, [READ_FILE]))).text == "Done."
    assert len(server.problems) == 1
    assert len(server.requests) == 3


async def test_pictures_of_results_move_to_a_message_where_results_hold_text_only(server, provider):
    def strict(body):
        if any(isinstance(item.get("output"), list) for item in body["input"]):
            return fail(400, "Invalid type for 'input[2].output': expected a string, but got an array instead.")
        return None

    server.script(strict)
    said = AssistantMessage(tool_calls=(ToolCall("call_1", "look"),))
    history = [user("hello"), said, ToolMessage("call_1", "look", "a cat", images=(PICTURE,))]
    for _ in range(2):
        assert (await ask(provider, Request("", history, [READ_FILE]))).text == "Done."
    assert len(server.requests) == 3
    assert server.requests[-1].body["input"][-1]["content"][-1]["type"] == "input_image"
    assert server.problems == []


async def test_a_400_that_adapting_does_not_cure_is_raised(server, provider):
    server.script(lambda body: fail(400, "Unsupported parameter: 'include' and 'reasoning', encrypted content too."))
    asked = await ask(provider)
    assert asked.error is not None
    assert (asked.error.kind, asked.error.status) == ("bad_request", 400)
    assert len(server.requests) == 2


async def test_a_400_about_something_else_teaches_nothing(server, provider):
    server.script(lambda body: fail(400, "Invalid 'input[0].content': the store must include reasoning."))
    assert (await ask(provider)).error is not None
    assert len(server.requests) == 1


async def test_a_long_history_costs_no_walk_by_the_sdk(provider):
    turns = [(user("x" * 200), AssistantMessage("y" * 200)) for _ in range(200)]
    history = [message for turn in turns for message in turn]
    request = Request("", [*history, user("go on")], [READ_FILE])
    await ask(provider)
    costs = []
    for _ in range(3):
        started = time.thread_time()
        await ask(provider, request)
        costs.append(time.thread_time() - started)
    assert min(costs) < 0.06


async def test_a_delta_costs_less_than_40_microseconds_of_cpu(connect):
    command = (sys.executable, "-m", "tests.fakes.model_server", "--tokens", "10000")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        provider = connect(base_url=json.loads(await process.stdout.readline())["url"])
        costs = []
        for _ in range(3):
            started = time.process_time()
            asked = await ask(provider)
            costs.append((time.process_time() - started) / len(asked.deltas))
        assert len(asked.deltas) == 10_001
        assert min(costs) < 40e-6
    finally:
        process.terminate()
        await process.wait()


def _token(claims):
    """An access token with these claims, as an unsigned JWT."""
    parts = ({"alg": "none"}, claims, {})
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)


ACCOUNT = _token({"https://api.openai.com/auth": {"chatgpt_account_id": "acc-1"}})


@pytest.mark.parametrize(
    ("url", "key", "account"),
    [
        ("http://chatgpt.com/backend-api/codex", ACCOUNT, "acc-1"),
        ("http://chatgpt.com/backend-api/codex", _token({"https://api.openai.com/auth": []}), None),
        ("http://chatgpt.com/backend-api/codex", "no-token", None),
        ("http://chatgpt.com/backend-api/codex", "a.b.c", None),
        ("http://chatgpt.com.evil.example/backend-api/codex", ACCOUNT, None),
    ],
)
async def test_the_codex_back_end_is_told_the_account_and_a_proxy_is_used(
    server, connect, monkeypatch, url, key, account
):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    assert (await ask(connect(base_url=url, api_key=key))).text == "Done."
    (received,) = server.requests
    assert received.path == f"{url}/responses"
    assert received.headers.get("chatgpt-account-id") == account
    assert received.headers["authorization"] == f"Bearer {key}"


def _interleaved():
    """Two calls whose arguments alternate, after a thought and a message."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    said = {"type": "output_text", "text": "look", "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
    calls = [
        {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": "read_file", "arguments": text}
        for name, text in (("a", '{"path": 1}'), ("b", '{"path": 2}'))
    ]
    output = [reasoning, message, *calls]
    response = completed()["response"] | {"output": [], "status": "in_progress"}
    created = {"type": "response.created", "sequence_number": 0, "response": response}
    return raw_events(
        created,
        event("output_item.added", 0, item={**reasoning, "summary": []}),
        event("output_item.added", 1, item={**message, "content": []}),
        event("content_part.added", 1, part={**said, "text": ""}, content_index=0, item_id="msg_1"),
        event("output_item.added", 2, item={**calls[0], "arguments": ""}),
        event("output_item.added", 3, item={**calls[1], "arguments": ""}),
        event("function_call_arguments.delta", 3, delta='{"path"', item_id="fc_b"),
        event("output_text.delta", 1, delta="look", content_index=0, item_id="msg_1", logprobs=[]),
        event("function_call_arguments.delta", 2, delta='{"path": 1}', item_id="fc_a"),
        event("function_call_arguments.delta", 3, delta=": 2}", item_id="fc_b"),
        *(event("output_item.done", number, item=item) for number, item in enumerate(output)),
        completed(*output),
    )


SDK_REPLIES = {
    "text": Say("two words"),
    "a thought": Say("two words", reasoning="hm hm"),
    "calls": Say("look", [Call("read_file", {"path": "a" * 50}), Call("read_file", {"path": "ü🌍"})]),
    "a refusal": Say("I will not.", finish="refusal"),
    "interleaved": _interleaved(),
}


@pytest.mark.parametrize("reply", SDK_REPLIES.values(), ids=SDK_REPLIES.keys())
async def test_the_same_bytes_make_the_same_message_as_the_sdks_own_accumulator(server, provider, reply):
    server.say(reply, reply)
    ours = await ask(provider)
    async with (
        openai.AsyncOpenAI(api_key="none", base_url=server.url) as client,
        client.responses.stream(model="fake", input=[{"role": "user", "content": "hi"}]) as stream,
    ):
        theirs = await stream.get_final_response()
    said = [part for item in theirs.output if item.type == "message" for part in item.content]
    refusals = [part.refusal for part in said if part.type == "refusal"]
    thoughts = [part.text for item in theirs.output if item.type == "reasoning" for part in item.summary]
    calls = [(item.name, json.loads(item.arguments)) for item in theirs.output if item.type == "function_call"]
    assert ours.message.text == theirs.output_text + "".join(refusals)
    assert ours.message.reasoning == "".join(thoughts)
    assert ours.calls == calls
    assert (ours.reply.finish == "refusal") == bool(refusals)
    assert (ours.reply.usage.output if ours.reply.usage else None) == (theirs.usage and theirs.usage.output_tokens)
