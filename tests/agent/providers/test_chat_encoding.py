"""What goes over the wire is what strict servers take, and all that the conversation holds."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.chat_dialect import Dialect
from hermes_acp.agent.providers.chat_encoding import chat_body
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.sight import Sight, in_sight
from hermes_acp.messages import AssistantMessage, Opaque, Text, ToolCall, ToolMessage, UserMessage, user
from tests.agent.providers.conversations import PICTURE, requests
from tests.fakes.chat_rules import broken_rule
from tests.support.asking import HELLO, READ_FILE, after_call

PICTURE_PART = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE.data}"}}


async def test_a_first_request(sent):
    assert await sent(HELLO) == {
        "model": "fake",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": "Be good."}, {"role": "user", "content": "hello"}],
        "tools": [{"type": "function", "function": READ_FILE}],
    }


async def test_calls_and_results_are_paired_by_our_ids(sent):
    calls = (ToolCall("call_1", "read_file", {"path": "ä"}, "0"), ToolCall("call_2", "read_file", {}, "0"))
    results = [ToolMessage("call_1", "read_file", "one"), ToolMessage("call_2", "read_file", "two")]
    body = await sent(Request("", [user("hello"), AssistantMessage("hm", tool_calls=calls), *results], [READ_FILE]))
    said = body["messages"][1]
    assert [(call["id"], call["function"]["arguments"]) for call in said["tool_calls"]] == [
        ("call_1", '{"path": "ä"}'),
        ("call_2", "{}"),
    ]
    assert said["content"] == "hm"
    assert body["messages"][2:] == [
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2", "content": "two"},
    ]


@pytest.mark.parametrize("blank", ["", " \n\t"])
async def test_no_blank_text_is_sent(sent, blank):
    body = await sent(after_call(blank, text=blank))
    assert [message["content"] for message in body["messages"]] == ["hello", None, "(no output)"]
    parts = UserMessage((Text(blank), Text("hello"), Text(blank)))
    assert (await sent(Request(blank, [parts], notes=(blank,))))["messages"] == [{"role": "user", "content": "hello"}]
    history = [user(blank), AssistantMessage(blank, reasoning="only thoughts"), user("go on")]
    assert all(message["content"].strip() for message in (await sent(Request("", history)))["messages"])


async def test_pictures_of_the_person_are_parts(sent):
    body = await sent(Request("", [UserMessage((Text("what is"), PICTURE, Text("this?")))]))
    text = [{"type": "text", "text": one} for one in ("what is", "this?")]
    assert body["messages"][0]["content"] == [text[0], PICTURE_PART, text[1]]


async def test_pictures_of_tools_follow_all_results_of_their_step(sent):
    calls = (ToolCall("call_1", "look", {}), ToolCall("call_2", "read_file", {}))
    results = [ToolMessage("call_1", "look", "", images=(PICTURE,)), ToolMessage("call_2", "read_file", "two")]
    history = [user("hello"), AssistantMessage(tool_calls=calls), *results]
    body = await sent(Request("", history, [READ_FILE], notes=("Hurry.",)))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    label, picture, note = body["messages"][-1]["content"]
    assert "look" in label["text"]
    assert (picture, note) == (PICTURE_PART, {"type": "text", "text": "Hurry."})
    await sent(Request("", [*history, AssistantMessage("I see."), user("good")], [READ_FILE]))


async def test_notes_are_added_to_a_copy_of_the_last_message_that_no_model_wrote(sent):
    request = after_call("done")
    noted = Request("", request.messages, request.tools, notes=("Half is used.", "Be brief."))
    assert (await sent(noted))["messages"][-1]["content"] == "done\n\nHalf is used.\n\nBe brief."
    assert (await sent(request))["messages"][-1]["content"] == "done"


async def test_a_synthetic_message_is_sent_as_the_text_it_is(sent):
    closed = AssistantMessage("Interrupted by the user before an answer.", synthetic=True)
    body = await sent(Request("", [user("a"), closed, user("b")]))
    assert body["messages"][1] == {"role": "assistant", "content": closed.text}


async def test_tool_choice_none_keeps_the_tools(sent):
    request = after_call()
    body = await sent(Request("", request.messages, request.tools, tool_choice="none"))
    assert (body["tool_choice"], len(body["tools"])) == ("none", 1)
    assert "tool_choice" not in await sent(Request("", [user("hi")], tool_choice="none"))


async def test_the_thought_level_is_the_reasoning_effort(sent):
    assert (await sent(Request("", [user("hi")], thought_level="high")))["reasoning_effort"] == "high"


@pytest.mark.parametrize("other", [{"provider": "other"}, {"model": "other"}])
async def test_opaque_thoughts_go_to_the_provider_and_model_they_came_from_only(sent, connect, other):
    opaque = Opaque("fake", "fake", {"reasoning_content": "hm", "unknown": 1})
    said = (await sent(after_call(opaque=opaque)))["messages"][1]
    assert (said["reasoning_content"], "unknown" in said) == ("hm", False)
    assert "reasoning_content" not in (await sent(after_call(opaque=opaque), connect(**other)))["messages"][1]


async def test_lone_surrogates_are_replaced_wherever_they_stand(sent):
    bad = "a\udcb2"
    call = ToolCall("call_1", bad, {"path": bad})
    history = [user(bad), AssistantMessage(bad, tool_calls=(call,)), ToolMessage("call_1", "x", bad)]
    body = await sent(Request(bad, history, [READ_FILE], notes=(bad,)))
    assert json.dumps(body, ensure_ascii=False).count("a\ufffd") == 6


@pytest.mark.parametrize("name", ["read file", "", "functions.read_file", "x" * 100])
async def test_a_tool_name_that_the_model_made_up_cannot_spoil_the_history(sent, name):
    call = ToolCall("call_1", name, {}, problem="There is no such tool.")
    body = await sent(
        Request("", [user("a"), AssistantMessage(tool_calls=(call,)), ToolMessage("call_1", name, "no")], [READ_FILE])
    )
    sent_name = body["messages"][1]["tool_calls"][0]["function"]["name"]
    assert sent_name.replace("_", "").replace("-", "").isalnum()
    assert len(sent_name) <= 64


opaques = st.none() | st.just(Opaque("fake", "fake", {"reasoning_content": "hm"}))


@given(requests(opaques), st.integers(0, 3), st.booleans())
def test_any_conversation_in_good_order_is_a_request_that_strict_servers_take(request, most, thoughtful):
    endpoint = Endpoint("fake", "fake", "http://127.0.0.1")
    request = replace(request, messages=in_sight(request.messages, Sight(most)))
    body = chat_body(request, endpoint, Dialect(thoughtful=thoughtful, short_ids=thoughtful))
    assert broken_rule({"model": "fake", "stream": True, **body}) == ""
