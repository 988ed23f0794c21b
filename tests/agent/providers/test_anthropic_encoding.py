"""What goes to a server of the Messages API is what Anthropic takes, and all that the conversation holds."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.anthropic_decoding import BLOCKS
from hermes_acp.agent.providers.anthropic_dialect import MessagesDialect
from hermes_acp.agent.providers.anthropic_encoding import messages_body
from hermes_acp.agent.providers.anthropic_messages import API
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.sight import Sight, in_sight
from hermes_acp.messages import AssistantMessage, Opaque, Text, ToolCall, ToolMessage, UserMessage, user
from tests.agent.providers.conversations import PICTURE, requests
from tests.fakes.anthropic_replies import BEGIN, end, raw, start, stop
from tests.fakes.anthropic_rules import broken_rule
from tests.fakes.anthropic_turns import REDACTED
from tests.fakes.model_server import Call, Say
from tests.support.asking import HELLO, READ_FILE, after_call, ask

PICTURE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PICTURE.data},
}
MARKER = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
def api():
    return API


def text(said):
    return {"type": "text", "text": said}


def plain(value):
    """A part of a body without its cache markers."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name != "cache_control"}
    return [plain(item) for item in value] if isinstance(value, list) else value


async def test_a_first_request(sent):
    assert await sent(HELLO) == {
        "model": "fake",
        "stream": True,
        "max_tokens": 8192,
        "system": [text("Be good.") | MARKER],
        "messages": [{"role": "user", "content": [text("hello") | MARKER]}],
        "tools": [
            {"name": "read_file", "description": "Read a file.", "input_schema": {"type": "object", "properties": {}}}
        ],
    }


async def test_calls_and_results_are_paired_by_our_ids_and_all_results_are_in_one_message(sent):
    calls = (ToolCall("call_1", "read_file", {"path": "ä"}, "0"), ToolCall("call_2", "read_file", {}, "0"))
    results = [ToolMessage("call_1", "read_file", "one"), ToolMessage("call_2", "read_file", "two", is_error=True)]
    body = await sent(Request("", [user("hello"), AssistantMessage("hm", tool_calls=calls), *results], [READ_FILE]))
    _, said, answered = plain(body["messages"])
    assert said["content"] == [
        text("hm"),
        {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "ä"}},
        {"type": "tool_use", "id": "call_2", "name": "read_file", "input": {}},
    ]
    assert answered == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": [text("one")]},
            {"type": "tool_result", "tool_use_id": "call_2", "content": [text("two")], "is_error": True},
        ],
    }


async def test_neighbours_of_one_role_are_one_message(sent):
    body = await sent(Request("", [user("a"), user("b"), AssistantMessage("c"), AssistantMessage("d"), user("e")]))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


async def test_the_system_prompt_and_the_last_three_messages_are_marked_and_nothing_else(sent):
    history = [user("1"), AssistantMessage("2"), user("3"), AssistantMessage("4"), user("5")]
    body = await sent(Request("Be good.", history, [READ_FILE]))
    assert "cache_control" in body["system"][-1]
    marked = ["cache_control" in message["content"][-1] for message in body["messages"]]
    assert marked == [False, False, True, True, True]
    assert json.dumps(body).count("cache_control") == 4


async def test_notes_stand_behind_the_marker_of_the_last_message(sent):
    request = after_call("done")
    noted = Request("", request.messages, request.tools, notes=("Half is used.", " ", "Be brief."))
    content = (await sent(noted))["messages"][-1]["content"]
    assert ["cache_control" in block for block in content] == [True, False, False]
    assert content[1:] == [text("Half is used."), text("Be brief.")]
    assert content[:1] == (await sent(request))["messages"][-1]["content"]


@pytest.mark.parametrize("blank", ["", " \n\t"])
async def test_no_blank_text_is_sent(sent, blank):
    body = await sent(after_call(blank, text=blank))
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use"]
    assert plain(body["messages"][2]["content"][0]["content"]) == [text("(no output)")]
    parts = UserMessage((Text(blank), Text("hello"), Text(blank)))
    body = await sent(Request(blank, [parts], notes=(blank,)))
    assert (plain(body["messages"]), "system" in body) == ([{"role": "user", "content": [text("hello")]}], False)
    await sent(Request("", [user(blank), AssistantMessage(blank, reasoning="only thoughts"), user("go on")]))


async def test_pictures_stand_where_they_were_and_inside_the_results_of_tools(sent):
    body = await sent(Request("", [UserMessage((Text("what is"), PICTURE, Text("this?")))]))
    assert plain(body["messages"][0]["content"]) == [text("what is"), PICTURE_BLOCK, text("this?")]
    result = ToolMessage("call_1", "read_file", "a.png", images=(PICTURE,))
    body = await sent(Request("", [*after_call().messages[:2], result], [READ_FILE]))
    assert body["messages"][2]["content"][0]["content"] == [text("a.png"), PICTURE_BLOCK]


async def test_a_failure_with_a_picture_is_sent_as_what_it_shows(sent):
    result = ToolMessage("call_1", "read_file", "no", is_error=True, images=(PICTURE,))
    body = await sent(Request("", [*after_call().messages[:2], result], [READ_FILE]))
    assert "is_error" not in body["messages"][2]["content"][0]


async def test_tool_choice_none_keeps_the_tools_and_calls_of_the_past_are_never_without_tools(sent):
    request = after_call()
    body = await sent(Request("", request.messages, request.tools, tool_choice="none"))
    assert (body["tool_choice"], len(body["tools"])) == ({"type": "none"}, 1)
    body = await sent(Request("", request.messages))
    assert (body["tool_choice"], [tool["name"] for tool in body["tools"]]) == ({"type": "none"}, ["read_file"])
    assert "tools" not in await sent(Request("", [user("hi")], tool_choice="none"))


@pytest.mark.parametrize("identity", ["toolu/1", "ü", "", "x" * 300, "a\udcb2"])
async def test_ids_from_elsewhere_are_written_in_letters_that_anthropic_takes(sent, identity):
    call = AssistantMessage(tool_calls=(ToolCall(identity, "read_file"),))
    await sent(Request("", [user("a"), call, ToolMessage(identity, "read_file", "no")], [READ_FILE]))


@pytest.mark.parametrize("name", ["read file", "", "functions.read_file", "x" * 200])
async def test_a_tool_name_that_the_model_made_up_cannot_spoil_the_history(sent, name):
    call = AssistantMessage(tool_calls=(ToolCall("call_1", name, problem="There is no such tool."),))
    await sent(Request("", [user("a"), call, ToolMessage("call_1", name, "no")], [READ_FILE]))


async def test_a_tool_without_a_schema_gets_one(sent):
    await sent(Request("", [user("a")], [{"name": "ping"}, {"name": "pong", "parameters": {"properties": {}}}]))


CALL = Call("read_file", {"path": "a"})


@pytest.mark.parametrize(
    "reply",
    [
        Say("Look.", [CALL], "hm hm"),
        Say("", [CALL, CALL], "hm"),
        Say(" \n", [CALL], "hm"),
        Say("Just words.", (), ["hm ", "ü\ud83c", "\udf0d"]),
        raw(
            BEGIN,
            start(0, type="redacted_thinking", data=f"{REDACTED}1=="),
            stop(0),
            start(1, type="text", text="Well."),
            stop(1),
            start(2, type="redacted_thinking", data=f"{REDACTED}2=="),
            stop(2),
            start(3, type="tool_use", id="t", name="read_file", input={"path": "a"}),
            stop(3),
            *end("tool_use"),
        ),
    ],
    ids=["all", "calls", "blank text", "words", "hidden thoughts"],
)
async def test_a_reply_with_thoughts_is_given_back_block_by_block_as_it_was(server, provider, sent, reply):
    server.say(reply)
    said = (await ask(provider)).message
    results = [ToolMessage(call.id, call.name, "a") for call in said.tool_calls]
    body = await sent(Request("", [user("hi"), said, *(results or [user("go on")])], [READ_FILE]))
    kinds = [block["type"] for block in body["messages"][1]["content"]]
    assert any("thinking" in kind for kind in kinds)
    assert kinds.count("tool_use") == len(said.tool_calls)
    if not isinstance(reply, Say):
        assert kinds == ["redacted_thinking", "text", "redacted_thinking", "tool_use"]


def with_thought(said="hm", answer="Look.", **opaque):
    """A message with a thought, as its provider gave it."""
    layout = [{"type": "thinking", "thinking": said, "signature": "s"}, {"type": "text", "start": 0, "end": 5}]
    kept = Opaque(**{"provider": "fake", "model": "fake", "data": {BLOCKS: [*layout, {"type": "tool_use"}]}} | opaque)
    return AssistantMessage(answer, said, (ToolCall("call_1", "read_file"),), kept)


def kinds_of(message, **dialect):
    request = Request("", [user("hi"), message], [READ_FILE])
    body = messages_body(request, Endpoint("fake", "fake", "http://fake"), MessagesDialect(**dialect))
    return [block["type"] for block in body["messages"][1]["content"]]


@pytest.mark.parametrize(
    "message",
    [
        with_thought(provider="other"),
        with_thought(model="other"),
        with_thought(data={"reasoning_content": "hm"}),
        with_thought(data=[1]),
        with_thought(data={BLOCKS: [1, {"type": 5}]}),
        with_thought(data={BLOCKS: [{"type": "text"}, {"type": "tool_use"}]}),
        with_thought(answer="Look. And more, from a second part."),
        replace(with_thought(), tool_calls=(ToolCall("call_1", "a"), ToolCall("call_2", "b"))),
    ],
)
def test_thoughts_of_another_model_or_of_another_reply_are_left_out(message):
    kinds = kinds_of(message)
    assert kinds == ["text", *["tool_use"] * len(message.tool_calls)]


def test_thoughts_go_back_but_for_those_that_were_refused():
    assert kinds_of(with_thought()) == ["thinking", "text", "tool_use"]
    assert kinds_of(with_thought(), refused=frozenset({"s"})) == ["text", "tool_use"]
    assert kinds_of(with_thought(), refused=frozenset({"other"})) == ["thinking", "text", "tool_use"]


def test_a_message_never_ends_with_a_thought():
    kept = Opaque("fake", "fake", {BLOCKS: [{"type": "thinking", "thinking": "hm", "signature": "s"}]})
    assert kinds_of(AssistantMessage("", "hm", (), kept)) == ["thinking", "text"]


async def test_lone_surrogates_are_replaced_wherever_they_stand(sent):
    bad = "a\udcb2"
    call = ToolCall("call_1", bad, {"path": bad, bad: [bad]})
    history = [user(bad), AssistantMessage(bad, tool_calls=(call,)), ToolMessage("call_1", "x", bad)]
    body = await sent(Request(bad, history, [READ_FILE], notes=(bad,)))
    assert json.dumps(body, ensure_ascii=False).count("a\ufffd") == 8


@given(
    requests(st.none() | st.just("a thought")),
    st.integers(0, 3),
    st.sampled_from(["", "off", "low", "max"]),
    st.sampled_from(["fake", "claude-sonnet-4-5", "claude-opus-5-5"]),
)
def test_any_conversation_in_good_order_is_a_request_that_anthropic_takes(request, most, level, model):
    known, messages = {}, []
    for number, message in enumerate(request.messages):
        if isinstance(message, AssistantMessage) and message.opaque:
            message = _thoughtful(message, model, f"s{number}", known)
        messages.append(message)
    request = replace(request, messages=in_sight(messages, Sight(most)), thought_level=level)
    body = messages_body(request, Endpoint("fake", model, "http://127.0.0.1"), MessagesDialect())
    assert broken_rule({"model": model, "stream": True, **body}, (), known) == ""


def _thoughtful(message, model, signature, known):
    """The message as a reply that began with a thought, which is then known by its signature."""
    calls = ["tool_use" for _ in message.tool_calls]
    words = ["text"] if message.text.strip() or not calls else []
    known[signature] = ("hm", (signature, *words, *calls))
    layout = [
        {"type": "thinking", "thinking": "hm", "signature": signature},
        {"type": "text", "start": 0, "end": len(message.text)},
        *({"type": "tool_use"} for _ in calls),
    ]
    return replace(message, opaque=Opaque("fake", model, {BLOCKS: layout}))
