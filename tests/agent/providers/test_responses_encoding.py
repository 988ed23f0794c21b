"""What goes over the wire is what strict Responses servers take, and all that the conversation holds."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.codex_responses import API
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.responses_dialect import ResponsesDialect
from hermes_acp.agent.providers.responses_encoding import responses_body
from hermes_acp.agent.providers.sight import Sight, in_sight
from hermes_acp.messages import (
    AssistantMessage,
    Opaque,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    from_dict,
    to_dict,
    user,
)
from tests.agent.providers.conversations import PICTURE, requests
from tests.fakes.model_server import Call, Say
from tests.fakes.responses_rules import broken_rule
from tests.support.asking import HELLO, READ_FILE, after_call, ask

PICTURE_PART = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE.data}", "detail": "auto"}


@pytest.fixture
def api():
    return API


def words(text):
    return {"type": "input_text", "text": text}


def kinds(body):
    return [item["type"] for item in body["input"]]


async def test_a_first_request(sent):
    assert await sent(HELLO) == {
        "model": "fake",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be good.",
        "input": [{"type": "message", "role": "user", "content": "hello"}],
        "tools": [{"type": "function", "strict": False, **READ_FILE}],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"summary": "auto"},
    }


async def test_calls_and_results_are_paired_by_our_ids(sent):
    calls = (ToolCall("call_1", "read_file", {"path": "ä"}, "0"), ToolCall("call_2", "read_file", {}, "0"))
    results = [ToolMessage("call_1", "read_file", "one"), ToolMessage("call_2", "read_file", "two")]
    body = await sent(Request("", [user("hello"), AssistantMessage("hm", tool_calls=calls), *results], [READ_FILE]))
    assert body["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "hm"},
        {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path": "ä"}'},
        {"type": "function_call", "call_id": "call_2", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "one"},
        {"type": "function_call_output", "call_id": "call_2", "output": "two"},
    ]


@pytest.mark.parametrize("blank", ["", " \n\t"])
async def test_no_blank_text_is_sent(sent, blank):
    body = await sent(after_call(blank, text=blank))
    assert kinds(body) == ["message", "function_call", "function_call_output"]
    assert body["input"][2]["output"] == "(no output)"
    parts = UserMessage((Text(blank), Text("hello"), Text(blank)))
    body = await sent(Request(blank, [parts], notes=(blank,)))
    assert body["input"] == [{"type": "message", "role": "user", "content": "hello"}]
    assert "instructions" not in body
    history = [user(blank), AssistantMessage(blank, reasoning="only thoughts"), user("go on")]
    assert all(item["content"].strip() for item in (await sent(Request("", history)))["input"])


async def test_pictures_of_the_person_are_parts(sent):
    body = await sent(Request("", [UserMessage((Text("what is"), PICTURE, Text("this?")))]))
    assert body["input"][0]["content"] == [words("what is"), PICTURE_PART, words("this?")]


def looked():
    """A history whose first of two results has a picture."""
    calls = (ToolCall("call_1", "look", {}), ToolCall("call_2", "read_file", {}))
    results = [ToolMessage("call_1", "look", "", images=(PICTURE,)), ToolMessage("call_2", "read_file", "two")]
    return [user("hello"), AssistantMessage(tool_calls=calls), *results]


async def test_pictures_of_tools_are_part_of_their_results(sent):
    body = await sent(Request("", looked(), [READ_FILE], notes=("Hurry.",)))
    assert [item["output"] for item in body["input"][3:]] == [[PICTURE_PART], "two\n\nHurry."]


async def test_notes_follow_a_picture_that_is_the_last_result(sent):
    said = AssistantMessage(tool_calls=(ToolCall("call_1", "look", {}),))
    result = ToolMessage("call_1", "look", "a cat", images=(PICTURE,))
    body = await sent(Request("", [user("hello"), said, result], [READ_FILE], notes=("Hurry.",)))
    assert body["input"][-1]["output"] == [words("a cat"), PICTURE_PART, words("Hurry.")]


def test_pictures_of_tools_follow_the_results_where_these_hold_text_only():
    body = responses_body(
        Request("", looked(), [READ_FILE], notes=("Hurry.",)),
        Endpoint("fake", "fake", ""),
        ResponsesDialect(plain_results=True),
    )
    assert [item["output"] for item in body["input"][3:5]] == ["(no output)", "two"]
    label, picture, note = body["input"][-1]["content"]
    assert "look" in label["text"]
    assert (picture, note) == (PICTURE_PART, words("Hurry."))


async def test_notes_are_added_to_a_copy_of_the_last_item_that_no_model_wrote(sent):
    request = after_call("done")
    noted = replace(request, notes=("Half is used.", "Be brief."))
    assert (await sent(noted))["input"][-1]["output"] == "done\n\nHalf is used.\n\nBe brief."
    assert (await sent(request))["input"][-1]["output"] == "done"


async def test_a_synthetic_message_is_sent_as_the_text_it_is(sent):
    closed = AssistantMessage("Interrupted by the user before an answer.", synthetic=True)
    body = await sent(Request("", [user("a"), closed, user("b")]))
    assert body["input"][1] == {"type": "message", "role": "assistant", "content": closed.text}


async def test_tool_choice_none_keeps_the_tools(sent):
    body = await sent(replace(after_call(), tool_choice="none"))
    assert (body["tool_choice"], len(body["tools"])) == ("none", 1)
    body = await sent(Request("", [user("hi")], tool_choice="none"))
    assert not {"tool_choice", "tools", "parallel_tool_calls"} & body.keys()


async def test_the_thought_level_is_the_reasoning_effort(sent):
    body = await sent(Request("", [user("hi")], thought_level="high"))
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}


def after(message, *, last="go on"):
    """The request that follows a reply, its calls answered."""
    results = [ToolMessage(call.id, call.name, "ok") for call in message.tool_calls]
    return Request("", [user("hello"), message, *(results or [user(last)])], [READ_FILE])


REPLIES = {
    "a call": Say(calls=[Call("read_file")], reasoning="hm"),
    "two calls": Say(calls=[Call("read_file"), Call("read_file")], reasoning="hm"),
    "text and a call": Say("I look.", [Call("read_file")], "hm"),
    "text": Say("two words", reasoning="hm"),
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
async def test_reasoning_is_given_back_unchanged_before_the_item_that_followed_it(server, sent, provider, reply):
    server.say(reply)
    message = (await ask(provider)).message
    stored = from_dict(json.loads(json.dumps(to_dict(message))))
    body = await sent(after(stored))
    (thought,) = [item for item in body["input"] if item["type"] == "reasoning"]
    assert thought["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert thought == {**message.opaque.data["output"][0]}
    assert body["input"].index(thought) == 1
    assert all("id" in item for item in body["input"][1 : 2 + len(message.tool_calls)])


@pytest.mark.parametrize("other", [{"provider": "other"}, {"model": "other"}])
async def test_reasoning_goes_to_the_provider_and_model_it_came_from_only(server, provider, connect, sent, other):
    server.say(REPLIES["text and a call"])
    message = (await ask(provider)).message
    body = await sent(after(message), connect(**other))
    assert kinds(body) == ["message", "message", "function_call", "function_call_output"]
    assert not any("id" in item for item in body["input"])


async def test_a_message_that_is_no_longer_what_was_said_is_sent_without_its_reasoning(server, provider, sent):
    server.say(REPLIES["text"], REPLIES["two calls"])
    said, called = (await ask(provider)).message, (await ask(provider)).message
    assert "reasoning" not in kinds(await sent(after(replace(said, text=said.text + " and more"))))
    assert "reasoning" not in kinds(await sent(after(replace(called, tool_calls=called.tool_calls[:1]))))


def test_a_reply_in_several_messages_is_given_back_in_its_order():
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"},
        {"type": "message", "id": "msg_1", "phase": "commentary", "length": 3},
        {"type": "function_call", "id": "fc_1"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "h"},
        {"type": "message", "id": "msg_2", "length": 4},
        {"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": "i"},
    ]
    message = AssistantMessage(
        "one\n\nfour", "", (ToolCall("call_1", "read_file"),), Opaque("fake", "fake", {"output": output})
    )
    body = responses_body(after(message), Endpoint("fake", "fake", ""), ResponsesDialect())
    items = body["input"][1:-1]
    assert [item["id"] for item in items] == ["rs_1", "msg_1", "fc_1", "rs_2", "msg_2"]
    assert (items[0], items[3]) == (output[0], output[3])
    assert [item["content"][0]["text"] for item in items if item["type"] == "message"] == ["one", "four"]
    assert items[1]["phase"] == "commentary"


@pytest.mark.parametrize("data", [None, [], {"output": None}, {"output": [1]}, {"reasoning_content": "hm"}])
async def test_what_another_api_left_behind_is_not_given_back(sent, data):
    body = await sent(after_call(opaque=Opaque("fake", "fake", data)))
    assert kinds(body) == ["message", "function_call", "function_call_output"]


async def test_lone_surrogates_are_replaced_wherever_they_stand(sent):
    bad = "a\udcb2"
    call = ToolCall("call_1", bad, {"path": bad})
    history = [user(bad), AssistantMessage(bad, tool_calls=(call,)), ToolMessage("call_1", "x", bad)]
    body = await sent(Request(bad, history, [READ_FILE], notes=(bad,)))
    assert json.dumps(body, ensure_ascii=False).count("a\ufffd") == 6


@pytest.mark.parametrize("name", ["read file", "", "functions.read_file", "x" * 100])
async def test_a_tool_name_that_the_model_made_up_cannot_spoil_the_history(sent, name):
    call = ToolCall("call_1", name, {}, problem="There is no such tool.")
    history = [user("a"), AssistantMessage(tool_calls=(call,)), ToolMessage("call_1", name, "no")]
    sent_name = (await sent(Request("", history, [READ_FILE])))["input"][1]["name"]
    assert sent_name.replace("_", "").replace("-", "").isalnum()
    assert len(sent_name) <= 64


entries = st.lists(
    st.sampled_from(
        [
            {"type": "reasoning", "summary": [], "encrypted_content": "g"},
            {"type": "message", "length": 1},
            {"type": "message", "length": 0},
            {"type": "function_call"},
        ]
    ),
    max_size=4,
)
opaques = st.none() | st.builds(Opaque, st.just("fake"), st.just("fake"), st.builds(dict, output=entries))


@given(requests(opaques), st.integers(0, 3), st.booleans())
def test_any_conversation_in_good_order_is_a_request_that_strict_servers_take(request, most, plain):
    endpoint = Endpoint("fake", "fake", "http://127.0.0.1")
    request = replace(request, messages=in_sight(request.messages, Sight(most)))
    body = responses_body(request, endpoint, ResponsesDialect(plain_results=plain))
    assert broken_rule({"model": "fake", "stream": True, **body}) == ""
