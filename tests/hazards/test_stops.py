"""X: whatever stops a turn, the session goes on, and nothing of the old turn comes after its end."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import AgentError, choose

pytestmark = pytest.mark.slow


def cancelled_question(editor):
    editor.handlers["session/request_permission"] = choose("cancelled")
    return Say(calls=[Call("terminal", {"command": "exit 0"})])


ENDS = {
    "a refused key": lambda editor: fail(401, "no such key"),
    "a bad request": lambda editor: fail(400, "messages: something is wrong"),
    "a refusal": lambda editor: Say(text=["I would rather not."], finish="content_filter"),
    "a cut answer": lambda editor: Say(text=["It begins"], ending="cut"),
    "a connection that breaks": lambda editor: Say(text=["It begins"], ending="reset"),
    "an error in the stream": lambda editor: Say(text=["It begins"], error={"message": "overloaded", "code": 503}),
    "no answer at all": lambda editor: Say(),
    "a tool that is not there": lambda editor: Say(calls=[Call("no_such_tool")]),
    "arguments that are not JSON": lambda editor: Say(calls=[Call("read_file", '{"path": ')]),
    "a closed question": cancelled_question,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_x1_a_session_is_not_wedged_by_the_end_of_a_turn(editor, model, project, end):
    """`e2e/test_cancel.py` has the ways to cancel, `kill/test_endings.py` an editor that goes away."""
    session = await editor.new_session(project)
    reply = end(editor)
    model.script(lambda body: reply if "Fail." in str(body["messages"][-1]) else None)
    model.say("Afterwards.", "Afterwards.")
    [outcome] = await asyncio.gather(editor.prompt(session, "Fail."), return_exceptions=True)
    if isinstance(outcome, AgentError):
        assert outcome.code == -32603
        assert len(str(outcome)) > len("-32603: ")
    else:
        assert outcome in ("end_turn", "refusal", "cancelled", "max_tokens")
    editor.handlers["session/request_permission"] = choose("allow_once")
    model.script(lambda body: None)
    assert await editor.prompt(session, "And now?", timeout=5) == "end_turn"
    assert editor.text(session).endswith("Afterwards.")


async def test_x2_cancels_of_an_idle_session_harm_no_prompt_however_many(editor, model, project):
    session = await editor.new_session(project)
    for number in range(5):
        for _ in range(number):
            editor.notify("session/cancel", {"sessionId": session})
        assert await editor.prompt(session, "hi") == "end_turn"


async def test_x4_an_editor_that_stops_reading_for_a_while_gets_its_answer_once(editor, model, project):
    words = [f"word {number} " * 8 for number in range(2_000)]
    model.say(Say(text=words, calls=[Call("list_files")]), Say(text=words))
    session = await editor.new_session(project)
    output = editor.process._transport.get_pipe_transport(1)
    output.pause_reading()
    prompt = editor.begin_prompt(session, "Say much.")
    await asyncio.sleep(3)
    output.resume_reading()
    assert (await prompt)["stopReason"] == "end_turn"
    assert editor.text(session) == "".join(words) * 2
    await asyncio.sleep(0.3)
    assert sum("stopReason" in (line.get("result") or {}) for line in editor.lines) == 1


async def test_x4_an_editor_that_never_answers_our_requests_gets_the_answers_to_its_own(editor, model, project):
    """A question that is left open holds up its own turn only."""
    editor.handlers["session/request_permission"] = lambda params: asyncio.Event().wait()
    model.script(
        lambda body: (
            Say(calls=[Call("terminal", {"command": "exit 0"})]) if "Ask." in str(body["messages"][-1]) else "Done."
        )
    )
    asking, other = [await editor.new_session(project) for _ in range(2)]
    first = editor.begin_prompt(asking, "Ask.")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    second = editor.begin_prompt(asking, "Wait behind it.")
    assert await editor.prompt(other, "hi", timeout=5) == "end_turn"
    await editor.request("session/list", timeout=5)
    assert not first.done()
    editor.notify("session/cancel", {"sessionId": asking})
    answers = await asyncio.wait_for(asyncio.gather(first, second), 5)
    assert [answer["stopReason"] for answer in answers] == ["cancelled"] * 2


async def test_x5_nothing_of_a_cancelled_turn_comes_in_the_next_and_its_stream_is_closed(editor, model, project):
    """The server goes on for as long as it is let; a command floods its card."""
    session = await editor.new_session(project)
    for number in range(5):
        old, new = f"old{number} ", f"new{number} "
        model.say(Say(text=[old] * 5_000, token_delay=0.001))
        running = editor.begin_prompt(session, "Go on and on.")
        await editor.wait_update(lambda update, old=old: old in str(update.get("content")))
        aborted = len(model.aborted)
        editor.notify("session/cancel", {"sessionId": session})
        model.say(Say(text=[new] * 50, token_delay=0.005))
        following = editor.begin_prompt(session, "Something else.")
        assert (await running)["stopReason"] == "cancelled"
        answered = len(editor.lines)
        await model.until(lambda server, aborted=aborted: len(server.aborted) > aborted, timeout=1)
        assert (await following)["stopReason"] == "end_turn"
        assert old not in str(editor.lines[answered:])
        assert editor.text(session).endswith(new * 50)


async def test_x5_no_output_of_a_stopped_command_comes_in_the_next_turn(editor, model, project):
    session = await editor.new_session(project)
    model.say(Say(calls=[Call("terminal", {"command": "trap '' TERM; while :; do echo flood; done"})]))
    running = editor.begin_prompt(session, "Run.")
    await editor.wait_update(lambda update: "flood" in str(update.get("content")))
    editor.notify("session/cancel", {"sessionId": session})
    assert (await running)["stopReason"] == "cancelled"
    answered = len(editor.lines)
    assert await editor.prompt(session, "Something else.") == "end_turn"
    await asyncio.sleep(0.5)
    assert "flood" not in str(editor.lines[answered:])
