"""The fake's Responses API is as strict as the real one, and remembers what it gave."""

import json

import httpx2 as httpx
import pytest

from tests.fakes.model_server import Call, ModelServer, Say

TOOL = {"type": "function", "name": "read_file", "parameters": {"type": "object", "properties": {}}}
HELLO = {"type": "message", "role": "user", "content": "hello"}
HI = {"type": "message", "role": "assistant", "content": "hi"}


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def client(server):
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        yield client


def request(*items, **fields):
    return {"model": "fake", "stream": True, "store": False, "input": list(items), **fields}


def call(identity="c1", arguments="{}", name="read_file"):
    return {"type": "function_call", "call_id": identity, "name": name, "arguments": arguments}


def result(identity="c1", output="ok"):
    return {"type": "function_call_output", "call_id": identity, "output": output}


def worked(*items):
    return request(HELLO, *items, tools=[TOOL])


GOOD = [
    request(HELLO),
    request({"role": "user", "content": "hi"}, instructions="be good"),
    worked(HI, call("c1"), call("c2"), result("c1"), result("c2")),
    worked(call(), result(), HI, HELLO),
    request(HELLO, tools=[TOOL], tool_choice="none", reasoning={"effort": "low", "summary": "auto"}),
]

BAD = {
    "user' cannot come after 'user": request(HELLO, HELLO),
    "assistant' cannot come after 'system": request(HI),
    "must not end with what the assistant said": request(HELLO, HI),
    "user' cannot come after 'tool": worked(call(), result(), HELLO),
    "unsupported role 'function'": request({**HELLO, "role": "function"}),
    "text content must not be empty": request({**HELLO, "content": " \n"}),
    "unsupported content part in a user": request({**HELLO, "content": [{"type": "output_text", "text": "x"}]}),
    "'output' must not be empty": worked(call(), result(output="")),
    "arguments are not valid JSON": worked(call(arguments="{"), result()),
    "arguments must be an object": worked(call(arguments="[1]"), result()),
    "No tool call found for function call output": worked(call(), call("c2"), result("c2"), result()),
    "No tool output found for function call c1": worked(call(), HELLO),
    "tool name 'read file' does not match": worked(call(name="read file"), result()),
    "is used twice": worked(call(), call(), result(), result()),
    "'tools' is missing": request(HELLO, call(), result()),
    "'tool_choice' is only allowed with 'tools'": request(HELLO, tool_choice="auto"),
    "malformed tool definition": request(HELLO, tools=[{"type": "function", "function": {"name": "x"}}]),
    "lone surrogate": request({**HELLO, "content": "a\ud83d"}),
    "'store' must be false": request(HELLO, store=True),
    "'instructions' must be": request(HELLO, instructions=""),
    "Unknown parameter: 'messages'": request(HELLO, messages=[]),
    "Unknown parameter: 'status'": request(HELLO, {"type": "reasoning", "summary": [], "status": None}),
    "unknown item type 'item_reference'": request({"type": "item_reference", "id": "x"}),
    "Item with id 'msg_1' not found": request(HELLO, {**HI, "id": "msg_1"}, HELLO),
}


@pytest.mark.parametrize("body", GOOD)
async def test_a_good_request_is_answered(client, body):
    assert (await client.post("/responses", json=body)).status_code == 200


@pytest.mark.parametrize(("problem", "body"), BAD.items(), ids=BAD.keys())
async def test_a_broken_rule_is_a_400_that_names_it(server, client, problem, body):
    response = await client.post("/responses", content=json.dumps(body))
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]
    assert server.problems == [response.json()["error"]["message"]]


@pytest.fixture
async def given(server, client):
    """The items of a reply with a thought, a text and a call, and the request that gives all of them back."""
    server.say(Say("I look.", [Call("read_file", id="c1")], "hm"))
    fields = {"tools": [TOOL], "include": ["reasoning.encrypted_content"]}
    response = await client.post("/responses", json=request(HELLO, **fields))
    last = json.loads([line for line in response.text.split("\n") if line.startswith("data: ")][-1][6:])
    return last["response"]["output"]


async def test_what_it_gave_is_taken_back(client, given):
    assert (await client.post("/responses", json=worked(*given, result()))).status_code == 200


SPOILT = {
    "Duplicate item found": lambda thought, text, call: [thought, thought, text, call],
    "without its required following item": lambda thought, text, call: [thought, call],
    "without its required 'reasoning' item": lambda thought, text, call: [text, call],
    "could not be verified": lambda thought, text, call: [{**thought, "encrypted_content": "gX"}, text, call],
    "does not match": lambda thought, text, call: [{**thought, "summary": []}, text, call],
    "not found": lambda thought, text, call: [{**thought, "encrypted_content": ""}, text, call],
}


@pytest.mark.parametrize(("problem", "spoil"), SPOILT.items(), ids=SPOILT.keys())
async def test_what_it_gave_must_come_back_as_it_was(client, given, problem, spoil):
    response = await client.post("/responses", json=worked(*spoil(*given), result()))
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]


async def test_thoughts_are_encrypted_only_when_asked_for(server, client):
    server.say(Say("hi", reasoning="hm"))
    assert "encrypted_content" not in (await client.post("/responses", json=request(HELLO))).text


@pytest.mark.parametrize(
    ("finish", "told"),
    [
        ("length", '"reason": "max_output_tokens"'),
        ("content_filter", '"reason": "content_filter"'),
        ("refusal", "refusal.delta"),
    ],
)
async def test_an_answer_can_be_cut_or_refused(server, client, finish, told):
    server.say(Say("two words", finish=finish))
    assert told in (await client.post("/responses", json=request(HELLO))).text
