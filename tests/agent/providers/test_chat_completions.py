"""A Chat Completions server over real HTTP: its faults, its refusals, and the end of a stream."""

import asyncio
import json
import subprocess
import sys
import time

import openai
import pytest

from hermes_acp.agent.providers import reading
from hermes_acp.agent.providers.base import Reply, Request
from hermes_acp.agent.providers.chat_completions import API
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.messages import Opaque
from tests.fakes.model_server import Call, ModelServer, Raw, Say, Status, chunk, fail, raw, sse
from tests.support.asking import HELLO, after_call, ask, serving

KEY = "sk-test-SECRET123"
STOP = chunk({}, "stop")


async def test_a_web_pages_title_is_the_reason(server, provider):
    server.say(Status(502, "<html><head><title>502 Bad Gateway</title></head></html>"))
    assert str((await ask(provider)).error) == "fake (HTTP 502): 502 Bad Gateway"


async def test_nobody_listening_is_a_network_failure(connect):
    failed = await ask(connect(base_url="http://127.0.0.1:9/v1"))
    assert failed.error.kind == "network"
    assert "127.0.0.1" in str(failed.error)


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1", "http://[::1/v1", ""])
async def test_an_address_that_is_none_is_a_bad_request(connect, url):
    assert (await ask(connect(base_url=url))).error.kind == "bad_request"


@pytest.mark.parametrize("key", ["sk-clé-du-café", "sk-two\nlines-of-key"])
async def test_a_key_that_no_header_can_carry_is_an_auth_failure_that_does_not_show_it(connect, key):
    error = (await ask(connect(api_key=key))).error
    assert error.kind == "auth"
    assert key not in str(error)


async def test_a_stream_that_makes_progress_is_never_stalled(server, connect):
    server.say(Say(["a"] * 6, token_delay=0.3))
    assert (await ask(connect(stall_timeout=1.0))).text == "aaaaaa"


async def test_a_slow_reader_is_no_stall(server, connect):
    server.say(Say("one two", token_delay=0.01, ending="finish"))
    texts = []
    async for delta in connect(stall_timeout=0.5).stream(HELLO):
        await asyncio.sleep(0.6)
        texts.append(delta)
    assert isinstance(texts[-1], Reply)


@pytest.mark.parametrize("ending", ["stall", "ping", "reset", "drop", "cut"])
async def test_a_stream_that_only_fails_to_end_after_its_finish_is_whole(server, provider, monkeypatch, ending):
    monkeypatch.setattr(reading, "LAST_WORDS", 0.2)
    server.say(Raw((sse(chunk({"content": "hi"}), STOP, done=False),), ending=ending))
    assert (await ask(provider)).message.text == "hi"


async def test_leaving_a_stream_early_closes_the_connection(server, provider):
    server.say(Say("a b c", ending="stall"))
    stream = provider.stream(HELLO)
    await anext(stream)
    await stream.aclose()
    await server.until(lambda one: one.aborted)


async def test_several_streams_run_side_by_side(server, provider):
    server.script(lambda body: Say(["a"] * 5, token_delay=0.3))
    started = time.perf_counter()
    asked = await asyncio.gather(*(ask(provider) for _ in range(5)))
    assert [one.text for one in asked] == ["aaaaa"] * 5
    assert time.perf_counter() - started < 5


async def test_the_key_is_sent_and_never_shown(server, connect):
    provider = connect(api_key=KEY)
    server.say(fail(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key"))
    error = (await ask(provider)).error
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (error.kind, error.status) == ("auth", 401)
    assert "SECRET" not in str(error)
    assert error.__cause__ is None
    server.say(Say("x", error={"message": f"bad key {KEY}", "type": "authentication_error"}))
    assert "SECRET" not in str((await ask(provider)).error)


async def test_what_the_sdk_finds_in_the_environment_stays_away_from_other_hosts(server, connect, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: secret\nAuthorization: Bearer sk-of-custom")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await ask(connect())
    (received,) = server.requests
    assert not {"openai-organization", "openai-project", "x-mine"} & received.headers.keys()
    assert "sk-" not in str(received.headers)


async def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on():
    async with ModelServer(refused=("stream_options", "reasoning_effort")) as server:
        provider = RemoteModel(Endpoint("fake", "fake", server.url), API)
        request = Request("", HELLO.messages, thought_level="low")
        assert (await ask(provider, request)).text == "Done."
        assert (await ask(provider, request)).text == "Done."
        await provider.aclose()
    assert len(server.problems) == 2
    assert len(server.requests) == 4


OPAQUE = Opaque("fake", "fake", {"reasoning_content": "hm"})


async def test_a_server_that_refuses_replayed_thoughts_gets_none_from_then_on(server, provider):
    server.refused = ("reasoning_content",)
    assert (await ask(provider, after_call(opaque=OPAQUE))).text == "Done."
    assert (await ask(provider, after_call(opaque=OPAQUE))).text == "Done."
    assert ["reasoning_content" in one.messages[1] for one in server.requests] == [True, False, False]


async def test_a_server_that_demands_thoughts_gets_them_with_every_call(server, provider):
    def demanding(body):
        missing = [one for one in body["messages"] if one.get("tool_calls") and "reasoning_content" not in one]
        return fail(400, "Missing `reasoning_content` field in the assistant message at index 1.") if missing else None

    server.script(demanding)
    assert (await ask(provider, after_call(reasoning="of another model"))).text == "Done."
    assert server.requests[1].messages[1]["reasoning_content"] == "of another model"
    assert (await ask(provider, after_call(opaque=OPAQUE))).text == "Done."
    assert len(server.requests) == 3


async def test_a_server_of_nine_letter_ids_gets_such(server, provider):
    def strict(body):
        (call,) = body["messages"][1]["tool_calls"]
        if len(call["id"]) != 9:
            return fail(400, f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9.")
        return None

    server.script(strict)
    assert (await ask(provider, after_call())).text == "Done."
    assert server.problems == []
    assert len(server.requests) == 2


async def test_a_400_that_adapting_does_not_cure_is_raised(server, provider):
    server.script(lambda body: fail(400, "reasoning_content is wrong, stream_options too"))
    error = (await ask(provider, after_call(opaque=OPAQUE))).error
    assert (error.kind, error.status) == ("bad_request", 400)
    assert len(server.requests) <= 3


def test_the_sdk_is_imported_only_when_a_model_is_asked():
    code = (
        "import sys, hermes_acp.agent.providers.chat_completions, hermes_acp.agent.providers.remote_model;"
        "from hermes_acp.agent.providers import apis, retry, continued, scripted;"
        "sys.exit(any(name.split('.')[0] in ('openai', 'anthropic', 'httpx2', 'pydantic') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_delta_costs_less_than_40_microseconds_of_cpu(connect, server_apart):
    provider = connect(base_url=await server_apart(10_000))
    costs = []
    for _ in range(3):
        started = time.process_time()
        asked = await ask(provider)
        costs.append((time.process_time() - started) / len(asked.deltas))
    assert len(asked.deltas) == 10_001
    assert min(costs) < 40e-6


SDK_REPLIES = {
    "text": Say("two words"),
    "a thought": Say("two words", reasoning="hm hm"),
    "calls": Say("look", [Call("read_file", {"path": "a" * 50}), Call("read_file", {"path": "ü🌍"})]),
    "interleaved": raw(
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": '{"pa'}}]}),
        chunk({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": '{"path": 2}'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'th": 1}'}}]}),
        chunk({}, "tool_calls"),
    ),
}


@pytest.mark.parametrize("reply", SDK_REPLIES.values(), ids=SDK_REPLIES.keys())
async def test_the_same_bytes_make_the_same_message_as_the_sdks_own_accumulator(server, provider, reply):
    server.say(reply, reply)
    ours = await ask(provider)
    async with openai.AsyncOpenAI(api_key="none", base_url=server.url) as client:
        arguments = {"model": "fake", "messages": [{"role": "user", "content": "hi"}]}
        async with client.chat.completions.stream(**arguments, stream_options={"include_usage": True}) as stream:
            theirs = await stream.get_final_completion()
    message = theirs.choices[0].message
    calls = message.tool_calls or []
    assert ours.message.text == (message.content or "")
    assert ours.message.reasoning == (getattr(message, "reasoning_content", None) or "")
    assert ours.calls == [(call.function.name, json.loads(call.function.arguments)) for call in calls]
    assert ours.reply.finish == theirs.choices[0].finish_reason
    assert (ours.reply.usage.output if ours.reply.usage else None) == (theirs.usage and theirs.usage.completion_tokens)


async def test_an_error_whose_body_never_ends_is_read_up_to_a_limit():
    sent = 0

    async def endless(writer):
        nonlocal sent
        writer.write(b"HTTP/1.1 500 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()
            sent += 0x10000

    async with serving(endless) as url:
        provider = RemoteModel(Endpoint("odd", "m", f"{url}/v1", KEY), API)
        asked = await asyncio.wait_for(ask(provider), 15)
        await provider.aclose()
    assert asked.error is not None
    assert asked.error.kind == "server"
    assert sent < 32 * 1024 * 1024


async def test_a_redirect_takes_the_prompt_nowhere_else():
    other = ModelServer()
    async with other:

        async def redirect(writer):
            place = f"{other.url}/chat/completions".replace("127.0.0.1", "localhost")
            writer.write(f"HTTP/1.1 307 X\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()

        async with serving(redirect) as url:
            provider = RemoteModel(Endpoint("odd", "m", f"{url}/v1", KEY), API)
            asked = await ask(provider)
            await provider.aclose()
        assert other.requests == []
    assert asked.error is not None
    assert (asked.error.kind, asked.error.status) == ("bad_request", 307)
    assert "redirects to http://localhost" in str(asked.error)


async def test_a_wrong_address_is_named_with_what_may_be_wrong_about_it(server):
    provider = RemoteModel(Endpoint("custom", "m", server.url.removesuffix("/v1"), "k" * 12), API)
    server.say(fail(404, "Not Found"))
    try:
        failed = await ask(provider)
    finally:
        await provider.aclose()
    assert failed.error is not None
    assert server.url.removesuffix("/v1") in str(failed.error)
    assert "/v1?" in str(failed.error)
