"""The fake model server does what tests rely on, over real HTTP."""

import asyncio
import json
import sys

import httpx2 as httpx
import pytest

from tests.fakes.model_server import Call, ModelServer, Raw, Say, Status, fail, sse, tokens

TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}
HELLO = {"role": "user", "content": "hello"}


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def client(server):
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        yield client


def request(*messages, **fields):
    return {"model": "fake", "stream": True, "messages": list(messages), **fields}


def call(identity="c1", arguments="{}", name="read_file"):
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*items):
    return {"role": "assistant", "content": None, "tool_calls": list(items)}


def result(identity="c1", content="ok"):
    return {"role": "tool", "tool_call_id": identity, "content": content}


async def ask(client, **fields):
    return await client.post("/chat/completions", json=request(HELLO, **fields))


def events(response):
    return [json.loads(line[6:]) for line in response.text.split("\n") if line.startswith("data: {")]


def text(response):
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in events(response) if one["choices"])


async def test_replies_come_in_the_order_they_were_queued_then_the_default(server, client):
    server.say("one two", Say(("three",)))
    assert [text(await ask(client)) for _ in range(3)] == ["one two", "three", "Done."]
    assert [one.body["messages"] for one in server.requests] == [[HELLO]] * 3
    assert server.connections == 1


async def test_a_script_answers_by_the_request(server, client):
    server.script(lambda body: f"echo {body['messages'][-1]['content']}")
    assert text(await ask(client)) == "echo hello"


async def test_calls_are_streamed_in_pieces_and_finish_as_tool_calls(server, client):
    server.say(Say(calls=[Call("read_file", {"path": "a" * 40})]))
    chunks = events(await ask(client))
    functions = [one["choices"][0]["delta"]["tool_calls"][0]["function"] for one in chunks[1:-1]]
    assert json.loads("".join(one["arguments"] for one in functions)) == {"path": "a" * 40}
    assert len(functions) > 2
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_usage_is_told_only_when_asked_for(server, client):
    assert "usage" not in (await ask(client)).text
    last = events(await ask(client, stream_options={"include_usage": True}))[-1]
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 1


async def test_an_error_status_comes_with_its_headers(server, client):
    server.say(Status(429, headers={"retry-after": "7"}), fail(400, "no", code="x"))
    response = await ask(client)
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert (await ask(client)).json()["error"]["code"] == "x"


async def test_a_client_that_hangs_up_is_recorded(server, client):
    server.say(Say("hello", ending="stall"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await ask(client)
    await server.until(lambda one: one.aborted)
    assert text(await ask(client)) == "Done."


@pytest.mark.parametrize(("ending", "error"), [("drop", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
async def test_a_broken_connection_reaches_the_client_as_one(server, client, ending, error):
    server.say(Say("hello", ending=ending))
    with pytest.raises(error):
        await ask(client)
    assert text(await ask(client)) == "Done."
    assert server.aborted == []


async def test_raw_bytes_arrive_as_they_are(server, client):
    data = sse("{") + b"\xff\xfe"
    server.say(Raw((data[:3], data[3:]), content_type="text/plain"))
    response = await ask(client)
    assert (response.content, response.headers["content-type"]) == (data, "text/plain")


GOOD = [
    request(HELLO),
    request({"role": "system", "content": "be good"}, HELLO, {"role": "assistant", "content": "hi"}, HELLO),
    request(HELLO, calls(call("c1"), call("c2")), result("c1"), result("c2"), tools=[TOOL], tool_choice="none"),
    request(HELLO, calls(call()), result(), {"role": "assistant", "content": "hi"}, HELLO, tools=[TOOL]),
]

BAD = {
    "user' cannot come after 'user": request(HELLO, HELLO),
    "assistant' cannot come after 'system": request({"role": "assistant", "content": "hi"}),
    "assistant' cannot come after 'assistant": request(HELLO, *[{"role": "assistant", "content": "hi"}] * 2),
    "tool' cannot come after 'user": request(HELLO, result(), tools=[TOOL]),
    "user' cannot come after 'tool": request(HELLO, calls(call()), result(), HELLO, tools=[TOOL]),
    "system' cannot come after 'user": request(HELLO, {"role": "system", "content": "x"}),
    "unsupported role 'function'": request(HELLO, {"role": "function", "content": "x"}),
    "there must be a user message": request({"role": "system", "content": "x"}),
    "text content must not be empty": request({"role": "user", "content": " \n"}),
    "messages[0]: text content must not be empty": request({"role": "user", "content": [{"type": "text", "text": ""}]}),
    "messages[2]: text content must not be empty": request(HELLO, calls(call()), result(content=""), tools=[TOOL]),
    "assistant message must not be NoneType": request(HELLO, {"role": "assistant", "content": None}),
    "arguments are not valid JSON": request(HELLO, calls(call(arguments="{")), result(), tools=[TOOL]),
    "arguments must be an object": request(HELLO, calls(call(arguments="[1]")), result(), tools=[TOOL]),
    "result of 'c2', expected 'c1'": request(HELLO, calls(call(), call("c2")), result("c2"), result(), tools=[TOOL]),
    "tool calls without results: c1": request(HELLO, calls(call()), tools=[TOOL]),
    "tool name 'read file' does not match": request(HELLO, calls(call(name="read file")), result(), tools=[TOOL]),
    "a tool call must have an id": request(HELLO, calls(call("")), result(""), tools=[TOOL]),
    "a tool call id is used twice": request(HELLO, calls(call(), call()), result(), result(), tools=[TOOL]),
    "'tools' is missing": request(HELLO, calls(call()), result()),
    "unknown tool_choice 'maybe'": request(HELLO, tools=[TOOL], tool_choice="maybe"),
    "'tool_choice' is only allowed with 'tools'": request(HELLO, tool_choice="auto"),
    "malformed tool definition": request(HELLO, tools=[{"name": "x"}]),
    "lone surrogate": request({"role": "user", "content": "a\ud83d"}),
    "'model' must be": request(HELLO, model=""),
    "'stream' must be": request(HELLO, stream=False),
    "unsupported content part in a tool message": request(
        HELLO,
        calls(call()),
        result(content=[{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]),
        tools=[TOOL],
    ),
}


@pytest.mark.parametrize("body", GOOD)
async def test_a_good_request_is_answered(client, body):
    assert (await client.post("/chat/completions", json=body)).status_code == 200


@pytest.mark.parametrize(("problem", "body"), BAD.items(), ids=BAD.keys())
async def test_a_broken_rule_is_a_400_that_names_it(server, client, problem, body):
    response = await client.post("/chat/completions", content=json.dumps(body))
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]
    assert server.problems == [response.json()["error"]["message"]]


async def test_a_field_can_be_refused():
    async with ModelServer(refused=("stream_options",)) as server, httpx.AsyncClient(trust_env=False) as client:
        body = request(HELLO, stream_options={"include_usage": True})
        response = await client.post(server.url + "/chat/completions", json=body)
    assert "stream_options" in response.json()["error"]["message"]


async def test_models_are_listed(client):
    assert (await client.get("/models")).json()["data"][0]["id"] == "fake-model"


async def test_it_runs_as_a_process_and_takes_a_script_over_http():
    command = (sys.executable, "-m", "tests.fakes.model_server", "--tokens", "3")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        url = json.loads(await process.stdout.readline())["url"]
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            await client.post(url.removesuffix("/v1") + "/script", json=["hi", {"calls": [{"name": "read_file"}]}])
            assert text(await ask(client)) == "hi"
            assert "read_file" in (await ask(client)).text
            assert text(await ask(client)) == "".join(tokens(3))
    finally:
        process.terminate()
        await process.wait()
