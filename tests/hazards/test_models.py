"""L: what model servers do. Each test is named for the hazard; L3 to L11 have some of their own beside these."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from tests.fakes.model_server import Call, Raw, Say, Status, chunk, raw, sse
from tests.support.editor import AgentError, open_editor

pytestmark = pytest.mark.slow

shared = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def impatient_editor(home, model, **more):
    """An editor whose agent gives up on a stream that stands still for a second."""
    folder = home / "hermes-acp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[agent]\nstall_timeout = 1.0\n", encoding="utf-8")
    async with open_editor(home, model.url, **more) as editor:
        await editor.initialize()
        yield editor


def call(name, arguments, **more):
    return {"function": {"name": name, "arguments": arguments}, **more}


def results(model):
    return [message for message in model.requests[-1].messages if message["role"] == "tool"]


def cards(editor, session):
    """The last status of each card."""
    updates = [update for update in editor.updates(session) if update["sessionUpdate"].startswith("tool_call")]
    return {update["toolCallId"]: update["status"] for update in updates if "status" in update}


@shared
async def test_l1_calls_without_an_index_stay_two_calls(one_editor, one_model, project):
    (project / "x").write_text("ex\n")
    (project / "y").write_text("why\n")
    one_model.say(
        raw(
            chunk({"tool_calls": [call("read_file", '{"path":', id="a")]}),
            chunk({"tool_calls": [{"function": {"arguments": '"x"}'}}]}),
            chunk({"tool_calls": [call("read_file", '{"path":"y"}', id="b")]}),
            chunk({}, "tool_calls"),
        ),
        "Read.",
    )
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "go") == "end_turn"
    assert ["ex" in one["content"] or "why" in one["content"] for one in results(one_model)] == [True, True]
    assert list(cards(one_editor, session).values()) == ["completed", "completed"]


@shared
@pytest.mark.parametrize("finish", ["length", "tool_calls", "stop"])
async def test_l2_a_call_cut_in_its_arguments_does_not_run(one_editor, one_model, project, finish):
    (project / "README.md").write_text("whole\n")
    cut = '{"path":"README.md","content":"# Title\\nPart 1'
    one_model.say(Say(calls=[Call("list_files", {}), Call("write_file", cut)], finish=finish), "In pieces, then.")
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "go") == "end_turn"
    assert (project / "README.md").read_text() == "whole\n"
    assert ["smaller pieces" in one["content"] for one in results(one_model)] == [True, True]
    assert set(cards(one_editor, session).values()) == {"failed"}


@shared
async def test_l4_a_call_that_was_cancelled_has_a_result_in_the_next_request(one_editor, one_model, project):
    one_model.say(Say(calls=[Call("terminal", {"command": "sleep 60"}), Call("list_files", {})]))
    session = await one_editor.new_session(project)
    prompt = one_editor.begin_prompt(session, "go")
    while "in_progress" not in cards(one_editor, session).values():
        await asyncio.sleep(0.01)
    one_editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert await one_editor.prompt(session, "go on") == "end_turn"
    calls = next(one for one in one_model.requests[-1].messages if one.get("tool_calls"))["tool_calls"]
    assert [one["tool_call_id"] for one in results(one_model)] == [one["id"] for one in calls]
    # The listing may have been there before the cancel was.
    assert "ancelled" in results(one_model)[0]["content"]


OVERLOADED = {"message": "Overloaded", "type": "overloaded_error"}


async def test_l5_an_overload_told_in_the_stream_is_tried_again(model, project, tmp_path):
    model.say(Say(error=OVERLOADED), "Here I am.")
    async with impatient_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert editor.text(session) == "Here I am."
    assert len(model.requests) == 2


async def test_l5_an_overload_after_text_is_an_error_and_shows_nothing_twice(model, project, tmp_path):
    model.say(Say(text=["one ", "two ", "three "], error=OVERLOADED))
    async with impatient_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        with pytest.raises(AgentError, match="Overloaded"):
            await editor.prompt(session, "go")
        assert editor.text(session) == "one two three "
        assert len(model.requests) == 1
        assert await editor.prompt(session, "again") == "end_turn"


@shared
async def test_l6_a_character_cut_by_the_network_arrives_whole(one_editor, one_model, project):
    events = sse(chunk({"content": "北京🌍"}), chunk({"content": "é"}, "stop"), done=False).replace(
        b"\n\n", b"\r\n\r\n"
    )
    data = b": hello\r\n" + events.replace(b"\\u", b"\\u") + b"data: [DONE]"
    one_model.say(Raw([data[at : at + 1] for at in range(len(data))]))
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "go") == "end_turn"
    assert one_editor.text(session) == "北京🌍é"


@shared
async def test_l7_half_a_surrogate_pair_breaks_neither_wire_nor_history(raw_editor, one_model, project):
    (project / "latin").write_bytes(b"caf\xe9 \x80\n")
    one_model.say(
        Say(calls=[Call("read_file", '{"path": "a\\ud835.txt"}'), Call("terminal", {"command": "cat latin"})]), "Fine."
    )
    session = await raw_editor.new_session(project)
    line = {"jsonrpc": "2.0", "id": "half", "method": "session/prompt"}
    line["params"] = {"sessionId": session, "prompt": [{"type": "text", "text": "\ud83d"}]}
    raw_editor.send_raw(json.dumps(line).encode() + b"\n")
    await raw_editor.wait_line(lambda message: message.get("id") == "half")
    assert raw_editor.text(session) == "Fine."
    sent = json.dumps(one_model.requests[-1].body, ensure_ascii=False)
    sent.encode()
    assert "\ufffd" in sent
    assert await raw_editor.prompt(session, "again") == "end_turn"


async def test_l8_thoughts_go_back_to_a_server_that_wants_them(model, project, tmp_path):
    model.say(Say(reasoning="because", calls=[Call("list_files", {})]), "Done.")
    async with impatient_editor(tmp_path, model) as editor:
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
    assert [one.get("reasoning_content") for one in model.requests[-1].messages if one["role"] == "assistant"] == [
        "because"
    ]


async def test_l8_a_server_that_refuses_thoughts_is_asked_without_them_from_then_on(project, tmp_path):
    from tests.fakes.model_server import ModelServer

    async with ModelServer(refused=("reasoning_content",)) as model, impatient_editor(tmp_path, model) as editor:
        model.say(
            Say(reasoning="because", calls=[Call("list_files", {})]), Say(calls=[Call("list_files", {})]), "Done."
        )
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
        with_thoughts = ["reasoning_content" in json.dumps(one.body["messages"]) for one in model.requests]
        assert with_thoughts == [False, True, False, False]


@shared
@pytest.mark.parametrize("ids", [("call_0", "call_0"), ("", ""), (None, None)], ids=["equal", "empty", "null"])
async def test_l12_calls_whose_ids_tell_nothing_keep_their_results(one_editor, one_model, project, ids):
    for name in "abcdef":
        (project / name).write_text(f"this is {name}\n")

    def reply(*names):
        calls = [
            call("read_file", json.dumps({"path": name}), id=told, index=at)
            for at, (name, told) in enumerate(zip(names, ids, strict=True))
        ]
        return raw(chunk({"tool_calls": calls}), chunk({}, "tool_calls"))

    one_model.say(reply("a", "b"), reply("c", "d"), reply("e", "f"), "Read.")
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "go") == "end_turn"
    read = [one["content"] for one in results(one_model)]
    assert [f"this is {name}" in text for name, text in zip("abcdef", read, strict=True)] == [True] * 6
    assert len({one["tool_call_id"] for one in results(one_model)}) == 6
    assert list(cards(one_editor, session).values()) == ["completed"] * 6


@shared
async def test_l13_chunks_that_say_nothing_are_passed_over(one_editor, one_model, project):
    nothing = [
        {"id": "x", "object": "chat.completion.chunk"},
        chunk(choices=[]),
        chunk() | {"choices": [{"delta": None}]},
    ]
    usage = chunk(choices=[], usage={"prompt_tokens": 70, "completion_tokens": 2, "total_tokens": 72})
    events = sse(*nothing, chunk({"content": "Hello"}), chunk({}, "stop"), *nothing, usage)
    one_model.say(Raw([b": ping\n\n", events]))
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "go") == "end_turn"
    assert one_editor.text(session) == "Hello"


@pytest.mark.parametrize("ending", ["stall", "ping", "cut", "drop"])
async def test_l14_a_stream_that_does_not_end_is_no_answer(model, project, tmp_path, ending):
    model.say(Say(text=["half ", "an answer"], ending=ending))
    async with impatient_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        with pytest.raises(AgentError):
            await editor.prompt(session, "go")
        assert editor.text(session) == "half an answer"
        model.say("A whole one.")
        assert await editor.prompt(session, "again") == "end_turn"
        assert "half an answer" not in json.dumps(model.requests[-1].messages)


async def test_l14_silence_before_the_first_word_is_tried_again(model, project, tmp_path):
    model.say(Say(ending="ping"), "Awake.")
    async with impatient_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert editor.text(session) == "Awake."


async def test_a_failure_of_the_model_is_an_error_and_never_an_answer(model, project, tmp_path):
    model.say(*[Status(500, {"error": {"message": "out of order"}})] * 3)
    async with impatient_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        with pytest.raises(AgentError, match="out of order"):
            await editor.prompt(session, "go")
        assert editor.text(session) == ""
