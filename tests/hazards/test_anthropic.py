"""L3, L5, L10: what sessions with Anthropic's models died of. Each test is named for the hazard."""

import json

import pytest

from tests.fakes.anthropic_replies import BEGIN, delta, events, raw, start
from tests.fakes.model_server import Call, ModelServer, Raw, Say
from tests.support.editor import AgentError, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

LIST = Call("list_files", {})
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def speaking(home, model):
    """An editor whose agent speaks the Messages API with this server."""
    return open_editor(home, model.url, HERMES_ACP_API_MODE="anthropic_messages")


@pytest.fixture
async def editor(tmp_path, model):
    async with speaking(tmp_path / "home", model) as editor:
        await editor.initialize()
        yield editor


def thoughts(request):
    """The thoughts in a request, in order, each as its server knows it."""
    blocks = [block for message in request.messages for block in message["content"]]
    return [(block["thinking"], block["signature"]) for block in blocks if block["type"] == "thinking"]


async def load(editor, session, project):
    await editor.initialize()
    await editor.request("session/load", open_params(session, project))


async def test_l3_thoughts_go_back_byte_for_byte_also_in_another_process(tmp_path, model, project):
    said = [["Let me ", "see: ü🌍\n\n", " twice  "], ["and so"], ["at last"]]
    model.say(
        Say("First this.", [LIST], said[0]), Say(calls=[LIST, LIST], reasoning=said[1]), Say("Done.", [], said[2])
    )
    async with speaking(tmp_path / "home", model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
    async with speaking(tmp_path / "home", model) as editor:
        await load(editor, session, project)
        assert await editor.prompt(session, "and now?") == "end_turn"
    assert model.problems == []
    assert [thought for thought, _ in thoughts(model.requests[-1])] == ["".join(pieces) for pieces in said]
    assert len({signature for _, signature in thoughts(model.requests[-1])}) == 3


async def test_l3_thoughts_that_the_server_refuses_are_dropped_once_and_the_session_lives(tmp_path, model, project):
    model.say(Say(calls=[LIST], reasoning="hm"), Say("Done.", reasoning="so"))
    async with speaking(tmp_path / "home", model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
    async with ModelServer() as other, speaking(tmp_path / "home", other) as editor:
        await load(editor, session, project)
        other.say(Say(calls=[LIST], reasoning="new"), "Here.")
        assert await editor.prompt(session, "and now?") == "end_turn"
        assert await editor.prompt(session, "and then?") == "end_turn"
        assert editor.text(session).endswith("Here.Done.")
        assert other.problems == ["messages.1.content.0: Invalid `signature` in `thinking` block"]
        assert [len(thoughts(request)) for request in other.requests] == [2, 0, 1, 1]


async def test_l5_an_overload_told_in_the_stream_is_tried_again(editor, model, project):
    model.say(raw(BEGIN, OVERLOADED), "Here I am.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert editor.text(session) == "Here I am."
    assert len(model.requests) == 2


async def test_l5_an_overload_after_text_is_an_error_and_shows_nothing_twice(editor, model, project):
    words = (delta(0, "text_delta", text=word) for word in ("one ", "two ", "three "))
    model.say(Raw((events(BEGIN, start(0, type="text", text=""), *words, OVERLOADED),)))
    session = await editor.new_session(project)
    with pytest.raises(AgentError, match="Overloaded"):
        await editor.prompt(session, "go")
    assert editor.text(session) == "one two three "
    assert len(model.requests) == 1
    assert await editor.prompt(session, "again") == "end_turn"


async def test_l10_what_says_nothing_never_becomes_an_empty_block(editor, model, project):
    model.say(
        Say(calls=[Call("terminal", {"command": "true"})]),
        Say(" \n", [Call("terminal", {"command": "true"})], "hm"),
        Say("", reasoning="only thoughts"),
        "Done.",
    )
    session = await editor.new_session(project)
    blank = [{"type": "text", "text": ""}, {"type": "text", "text": "go"}, {"type": "text", "text": " "}]
    answer = await editor.request("session/prompt", {"sessionId": session, "prompt": blank})
    assert answer["stopReason"] == "end_turn"
    assert await editor.prompt(session, "again") == "end_turn"
    assert model.problems == []
    texts = [
        block["text"] for message in model.requests[-1].messages for block in message["content"] if "text" in block
    ]
    assert all(text.strip() for text in texts)
    assert '""' not in json.dumps(model.requests[-1].messages)


async def test_l10_a_prompt_that_says_nothing_is_refused_and_the_session_lives(editor, model, project):
    session = await editor.new_session(project)
    with pytest.raises(AgentError, match="-32602"):
        await editor.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": ""}]})
    assert await editor.prompt(session, "hi") == "end_turn"
    assert model.problems == []
