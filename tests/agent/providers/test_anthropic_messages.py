"""A server of the Messages API over real HTTP: its faults, its refusals, and what it is sent."""

import asyncio
import subprocess
import sys
import time

import anthropic
import pytest

from hermes_acp.agent.providers.anthropic_messages import API
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.agent.providers.sdk_errors import MAX_ERROR_BYTES
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from tests.fakes.anthropic_replies import BEGIN, delta, end, events, refused, start
from tests.fakes.model_server import Raw, Status
from tests.support.asking import READ_FILE, ask, serving

KEY = "sk-ant-test-SECRET123"
HALF = (BEGIN, start(0, type="text", text=""), delta(0, "text_delta", text="some text"))


@pytest.fixture
def api():
    return API


async def test_bytes_that_are_no_utf8_are_replaced(server, provider):
    said = events(*HALF, *end()).replace(b"some text", b"caf\xe9")
    server.say(Raw((said,)))
    assert (await ask(provider)).message.text == "caf\ufffd"


async def test_a_server_that_does_not_stream_is_understood(server, provider):
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}},
    ]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3}
    server.say(
        Status(200, {"type": "message", "model": "m", "content": content, "stop_reason": "tool_use", "usage": usage})
    )
    asked = await ask(provider)
    assert (asked.text, asked.thought, asked.calls) == ("Look.", "hm", [("read_file", {"path": "a"})])
    assert (asked.reply.finish, asked.reply.usage.input, asked.reply.usage.cached) == ("tool_calls", 7, 2)


async def test_the_key_is_sent_and_never_shown(server, connect):
    provider = connect(api_key=KEY)
    server.say(refused(f"invalid x-api-key: {KEY}", 401, "authentication_error"))
    error = (await ask(provider)).error
    headers = server.requests[0].headers
    assert headers["x-api-key"] == KEY
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (error.kind, error.status) == ("auth", 401)
    assert "SECRET" not in str(error)
    assert error.__cause__ is None


async def test_servers_of_others_are_asked_in_the_version_that_all_know(server, connect):
    await ask(connect())
    await ask(connect(anthropic_version="2027-01-01"))
    assert [one.headers["anthropic-version"] for one in server.requests] == ["2023-06-01", "2027-01-01"]


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_be_given_with_or_without_its_version(server, connect, end):
    root = server.url.removesuffix("/v1")
    assert (await ask(connect(base_url=f"{root}/anthropic{end}"))).text == "Done."
    assert server.requests[0].path == "/anthropic/v1/messages"


async def test_a_wrong_address_is_named(server, connect):
    server.say(Status(404, "<html><title>Not Found</title></html>"))
    error = (await ask(connect())).error
    assert f"{server.url}/messages" in str(error)


async def test_a_model_that_is_not_there_is_no_wrong_address(server, connect):
    server.say(refused("model 'qwen' not found, try pulling it first", 404, "not_found_error"))
    assert str((await ask(connect())).error) == "fake (HTTP 404): model 'qwen' not found, try pulling it first"


async def test_what_the_sdk_finds_in_the_environment_stays_away_from_other_hosts(server, connect, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-anthropic")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-anthropic")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Mine: secret\nX-Api-Key: sk-of-custom")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await ask(connect())
    (received,) = server.requests
    assert "x-mine" not in received.headers
    assert "of-" not in str(received.headers)


async def test_anthropic_itself_gets_the_key_in_one_place_and_the_sdks_own_version():
    client = await asyncio.to_thread(API.connect, Endpoint("anthropic", "claude", "https://api.anthropic.com", KEY))
    sent = client._client.default_headers
    await client.aclose()
    assert sent["X-Api-Key"] == KEY
    assert isinstance(sent["Authorization"], anthropic.Omit)
    assert sent["anthropic-version"] >= "2026-10-21"


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1", "http://[::1/v1", ""])
async def test_an_address_that_is_none_is_a_bad_request(connect, url):
    assert (await ask(connect(base_url=url))).error.kind == "bad_request"


async def test_nobody_listening_is_a_network_failure(connect):
    assert (await ask(connect(base_url="http://127.0.0.1:9"))).error.kind == "network"


async def test_an_error_whose_body_never_ends_is_read_up_to_a_limit():
    async def endless(writer):
        writer.write(b"HTTP/1.1 500 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(64 * MAX_ERROR_BYTES // 0x10000):
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()

    async with serving(endless) as url:
        provider = RemoteModel(Endpoint("odd", "m", url, KEY), API)
        assert (await ask(provider)).error.kind == "server"
        await provider.aclose()


async def test_models_are_listed_with_window_and_sight(server, connect):
    entry = {"id": "claude-a", "type": "model", "created_at": "2026-01-01T00:00:00Z", "max_input_tokens": 200_000}
    seeing = {"image_input": {"supported": False}}
    server.list_answer = Status(200, {"data": [entry | {"capabilities": seeing}], "has_more": False})
    (model,) = await connect(api_key=KEY).models()
    assert (model.name, model.window, model.sees_images) == ("claude-a", 200_000, False)


def test_the_sdk_is_imported_only_when_a_model_is_asked():
    code = (
        "import sys, hermes_acp.agent.providers.anthropic_messages;"
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


async def test_a_request_of_400_messages_costs_a_few_milliseconds(connect, server_apart):
    messages = []
    for number in range(100):
        call = ToolCall(f"call_{number}", "read_file", {"path": "a"})
        result = ToolMessage(call.id, "read_file", f"result {number} " * 100)
        messages += [user(f"read {number}"), AssistantMessage(tool_calls=(call,)), result, AssistantMessage("Read.")]
    request = Request("Be good.", [*messages, user("go")], tools=[READ_FILE])
    provider = connect(base_url=await server_apart(1))
    costs = []
    for _ in range(5):
        started = time.process_time()
        assert (await ask(provider, request)).text == "w0 "
        costs.append(time.process_time() - started)
    assert min(costs[1:]) < 0.02
