"""O: the order of what is streamed. Each test is named for the hazard."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError
from tests.support.pipes import open_pipes
from tests.support.talk import states

pytestmark = pytest.mark.slow

shared = pytest.mark.asyncio(loop_scope="session")


def prompt(session, text):
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def texts(lines, kind="agent_message_chunk"):
    updates = [line["params"]["update"] for line in lines if line.get("method") == "session/update"]
    return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == kind)


@pytest.mark.parametrize("pause", [0.0, 0.002], ids=["fast reader", "slow reader"])
async def test_o1_no_update_of_a_turn_comes_after_its_answer(model, project, tmp_path, pause):
    pieces = [f"{n}:{'x' * 900} " for n in range(200)]
    model.say(Say(text=pieces, calls=[Call("list_files", {})]), Say(text=["the last words"]))
    async with open_pipes(tmp_path / "home", model.url) as pipes:
        session = await pipes.open(project)
        pipes.ask("go", "session/prompt", prompt(session, "stream"))
        while not any(line.get("id") == "go" for line in pipes.lines):
            await pipes.read(2048)
            await asyncio.sleep(pause)
        pipes.ask("after", "session/list")
        await pipes.answer("after")
        ids = [line.get("id") for line in pipes.lines]
        assert texts(pipes.lines) == "".join(pieces) + "the last words"
        after = pipes.lines[ids.index("go") + 1 :]
        assert [line for line in after if line.get("method") == "session/update"] == []


@shared
async def test_o3_a_card_is_not_in_progress_before_it_is_approved(one_editor, one_model, project):
    """Several calls in one reply: each waits for its own approval, whatever became of the one before."""
    commands = [Call("terminal", {"command": f"echo {n}; exit 0"}) for n in range(3)]
    one_model.say(Say(calls=[*commands, Call("write_file", {"path": "a", "content": "x"})]), "Done.")
    seen = []
    choices = iter(["allow_once", "reject_once", "allow_once", "allow_once"])

    async def answer(params):
        await asyncio.sleep(0.05)
        seen.append(states(one_editor, params["sessionId"])[params["toolCall"]["toolCallId"]])
        return {"outcome": {"outcome": "selected", "optionId": next(choices)}}

    one_editor.handlers["session/request_permission"] = answer
    session = await one_editor.new_session(project)
    await one_editor.prompt(session, "go")
    assert seen == [["pending"]] * 4
    allowed, rejected = ["pending", "in_progress", "completed"], ["pending", "failed"]
    assert list(states(one_editor, session).values()) == [allowed, rejected, allowed, allowed]


@shared
async def test_o4_text_a_call_and_text_are_two_messages_and_nothing_is_said_twice(one_editor, one_model, project):
    one_model.say(
        Say(reasoning=["a thought"], text=["be", "fore"], calls=[Call("list_files", {})]), Say(text=["af", "ter"])
    )
    session = await one_editor.new_session(project)
    await one_editor.prompt(session, "go")
    said = {}
    for update in one_editor.updates(session, "agent_message_chunk"):
        said[update["messageId"]] = said.get(update["messageId"], "") + update["content"]["text"]
    assert list(said.values()) == ["before", "after"]
    assert one_editor.text(session, "agent_thought_chunk") == "a thought"


@shared
async def test_o4_a_stream_that_breaks_after_text_was_shown_says_nothing_twice(one_editor, one_model, project):
    one_model.say(Say(text=[f"{n} " for n in range(10)], ending="cut"), "A whole answer.")
    session = await one_editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await one_editor.prompt(session, "count")
    assert error.value.code == -32603
    assert one_editor.text(session) == "0 1 2 3 4 5 6 7 8 9 "
    assert await one_editor.prompt(session, "again") == "end_turn"
    assert one_editor.text(session) == "0 1 2 3 4 5 6 7 8 9 A whole answer."


@shared
@pytest.mark.slow
async def test_o4_a_stream_that_breaks_in_a_thought_is_tried_again_under_a_new_id(one_editor, one_model, project):
    one_model.say(Say(reasoning=["one", " two"], ending="drop"), Say(reasoning=["three"], text=["Said once."]))
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, "think") == "end_turn"
    assert one_editor.text(session).endswith("Said once.")
    assert one_editor.text(session).count("Said once.") == 1
    thoughts = one_editor.updates(session, "agent_thought_chunk")
    assert len({update["messageId"] for update in thoughts}) == 2


@shared
async def test_o4_an_answer_in_two_parts_is_one_message(one_editor, one_model, project):
    one_model.say(Say(text=["the first half, "], finish="length"), Say(text=["the second half."]))
    session = await one_editor.new_session(project)
    await one_editor.prompt(session, "go")
    assert one_editor.text(session) == "the first half, the second half."
    assert len({update["messageId"] for update in one_editor.updates(session, "agent_message_chunk")}) == 1
