"""Cancel at every moment: the turn stops at once, nothing is left behind, the next prompt works."""

import asyncio
import json

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import never, open_editor
from tests.support.processes import processes_tagged


def is_answer(line):
    return "stopReason" in (line.get("result") or {})


def updates_after_the_answer(editor):
    first = next(index for index, line in enumerate(editor.lines) if is_answer(line))
    return [line for line in editor.lines[first + 1 :] if line.get("method") == "session/update"]


AT_ONCE = 2.0
"""Seconds, also for a busy machine. What it really takes is measured by `make bench`."""


async def cancel(editor, session, prompt):
    editor.notify("session/cancel", {"sessionId": session})
    async with asyncio.timeout(AT_ONCE):
        assert (await prompt)["stopReason"] == "cancelled"


async def assert_served(editor, model, session):
    """The next prompt runs, and the validating server accepts the history."""
    await editor.request("session/list")
    assert updates_after_the_answer(editor) == []
    model.say("Back again.")
    assert await editor.prompt(session, "again") == "end_turn"
    assert editor.text(session).endswith("Back again.")


async def test_before_the_first_byte(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    await cancel(editor, session, prompt)
    await model.until(lambda server: server.aborted, AT_ONCE)
    await assert_served(editor, model, session)


async def test_in_mid_stream(editor, model, project):
    model.say(Say(text=[f"{n} " for n in range(1000)], token_delay=0.02))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await editor.wait_update(lambda update: update["sessionUpdate"] == "agent_message_chunk")
    await cancel(editor, session, prompt)
    await model.until(lambda server: server.aborted, AT_ONCE)
    await assert_served(editor, model, session)


async def test_during_a_question_that_nobody_answers(editor, model, project):
    editor.handlers["session/request_permission"] = never
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    question = await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    await cancel(editor, session, prompt)
    assert question["id"] in editor.cancelled
    assert not (project / "made").exists()
    await assert_served(editor, model, session)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 61",
        "(trap '' TERM INT HUP; sleep 61)",
        "setsid sleep 61 & sleep 61",
        "(sleep 61 &) ; sleep 61",
    ],
    ids=["plain", "ignores signals", "new session", "orphan"],
)
async def test_during_a_command_no_process_is_left(editor, model, project, command):
    model.say(Say(calls=[Call("terminal", {"command": command})]))
    session = await editor.new_session(project)
    before = set(processes_tagged(editor.tag))
    prompt = editor.begin_prompt(session, "hi")
    await editor.wait_update(lambda update: update.get("status") == "in_progress")
    async with asyncio.timeout(5):
        while not set(processes_tagged(editor.tag)) - before:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    await cancel(editor, session, prompt)
    assert set(processes_tagged(editor.tag)) - before == set()
    await assert_served(editor, model, session)


async def test_prompt_and_cancel_in_one_write(editor, model, project):
    session = await editor.new_session(project)
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}
    lines = [
        {"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": params},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}},
    ]
    editor.dialogue = None
    editor.send_raw(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    answer = await editor.wait_line(lambda line: line.get("id") == "p")
    assert answer["result"]["stopReason"] == "cancelled"
    assert model.requests == []
    assert await editor.prompt(session, "again") == "end_turn"


async def test_a_cancelled_request_of_a_prompt_answers_cancelled(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    editor.notify("$/cancel_request", {"requestId": editor.last_id})
    assert (await prompt)["stopReason"] == "cancelled"
    assert await editor.prompt(session, "again") == "end_turn"


async def test_waiting_prompts_are_cancelled_with_the_running_one_and_a_later_one_runs(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompts = [editor.begin_prompt(session, str(n)) for n in range(3)]
    await model.until(lambda server: server.requests)
    editor.notify("session/cancel", {"sessionId": session})
    later = editor.begin_prompt(session, "later")
    answers = await asyncio.gather(*prompts, later)
    assert [answer["stopReason"] for answer in answers] == ["cancelled"] * 3 + ["end_turn"]
    assert model.requests[-1].messages[-1]["content"] == "later"


async def test_cancel_of_an_idle_session_does_not_touch_the_next_prompt(editor, model, project):
    session = await editor.new_session(project)
    editor.notify("session/cancel", {"sessionId": session})
    assert await editor.prompt(session, "hi") == "end_turn"


async def test_stop_as_a_prompt_is_a_cancel_and_is_not_queued(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    running = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    assert await editor.prompt(session, "/stop") == "end_turn"
    assert (await running)["stopReason"] == "cancelled"


@pytest.mark.slow
async def test_a_prompt_ends_the_turn_that_it_meets_where_that_is_asked_for(tmp_path, model, project):
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[agent]\nbusy_prompt = "interrupt"\n', "utf-8")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        model.say(Say(text=["late"], first_delay=30), "At once.")
        session = await editor.new_session(project)
        running = editor.begin_prompt(session, "hi")
        command = editor.begin_prompt(session, "/help")
        await model.until(lambda server: server.requests)
        assert not running.done()
        assert await editor.prompt(session, "Something else.") == "end_turn"
        assert (await command)["stopReason"] == "cancelled"
        assert (await running)["stopReason"] == "cancelled"
        assert editor.text(session) == "At once."


async def test_a_storm_of_cancels(editor, model, project):
    model.say(Say(text=[f"{n} " for n in range(1000)], token_delay=0.01))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    for _ in range(200):
        editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    await assert_served(editor, model, session)


async def test_a_cancelled_command_keeps_the_output_that_was_seen(editor, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "echo seen; sleep 60"})]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_update(lambda update: "seen" in str(update.get("content")) and update.get("status") is None)
    await cancel(editor, session, prompt)
    final = editor.updates(session)[-1] if editor.updates(session)[-1].get("status") else None
    ended = final or next(update for update in reversed(editor.updates(session)) if update.get("status") == "failed")
    assert "seen" in str(ended["content"])
    assert "Cancelled" in str(ended["content"])
