"""D1, D2: several agents on one store, and an agent that is killed in mid-turn.

Kills at random moments are in `kill/test_kill_9.py`.
"""

import asyncio
import sqlite3
import time
from contextlib import closing

import pytest

from tests.fakes.model_server import Call, ModelServer, Say
from tests.support.editor import AgentError, choose, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

TURNS = 200
LOCKED = 6.0
"""Seconds that another program holds the store, more than an agent waits for it."""


async def many_turns(editor, session):
    """The numbers of the prompts that were answered."""
    answered = []
    for number in range(TURNS):
        [outcome] = await asyncio.gather(editor.prompt(session, f"prompt {number}."), return_exceptions=True)
        if outcome == "end_turn":
            answered.append(number)
        else:
            assert isinstance(outcome, AgentError)
            assert outcome.code == -32603
            assert "locked" in str(outcome)
    return answered


def hold(database):
    """Be the third program."""
    time.sleep(1)
    with closing(sqlite3.connect(database, timeout=10, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(LOCKED)
        other.execute("ROLLBACK")


@pytest.mark.timeout(300)
async def test_d1_two_windows_lose_nothing_though_a_third_program_holds_the_store(tmp_path, project):
    home = tmp_path / "home"
    async with ModelServer() as model:
        model.script(lambda body: f"answer to {body['messages'][-1]['content']}")
        async with open_editor(home, model.url) as first, open_editor(home, model.url) as second:
            editors = [first, second]
            await asyncio.gather(*(editor.initialize() for editor in editors))
            sessions = [await editor.new_session(project) for editor in editors]
            holding = asyncio.create_task(asyncio.to_thread(hold, home / "hermes-acp" / "sessions.db"))
            answered = await asyncio.gather(*map(many_turns, editors, sessions))
            await holding
        async with open_editor(home, model.url) as again:
            await again.initialize()
            for session, numbers in zip(sessions, answered, strict=True):
                assert len(numbers) > TURNS * 0.9
                await again.request("session/load", open_params(session, project))
                shown = again.text(session)
                kept = [number for number in range(TURNS) if f"answer to prompt {number}." in shown]
                assert set(numbers) <= set(kept)
                assert again.text(session, "user_message_chunk") == "".join(f"prompt {n}." for n in range(TURNS))
                assert await again.prompt(session, "Still there?") == "end_turn"
        assert model.problems == []


async def test_d1_one_session_in_two_windows_keeps_what_both_say(tmp_path, model, project):
    """Each window goes on with what it knows; the next one that opens the session has all of it."""
    home = tmp_path / "home"
    async with open_editor(home, model.url) as first, open_editor(home, model.url) as second:
        await asyncio.gather(first.initialize(), second.initialize())
        model.say("start")
        session = await first.new_session(project)
        await first.prompt(session, "begin.")
        await second.request("session/load", open_params(session, project))
        for number in range(3):
            model.say(f"first {number}.")
            await first.prompt(session, f"to first {number}.")
            model.say(Say(text=["No."], finish="content_filter") if number == 1 else f"second {number}.")
            await second.prompt(session, f"to second {number}.")
    async with open_editor(home, model.url) as third:
        await third.initialize()
        await third.request("session/load", open_params(session, project))
        model.say("All of it.")
        assert await third.prompt(session, "What was said?") == "end_turn"
        sent = str(model.requests[-1].messages)
        assert all(f"first {number}." in sent for number in range(3)), sent
        assert all(f"second {number}." in sent for number in (0, 2))
        assert "to second 1." not in sent
        shown = third.text(session, "user_message_chunk")
        assert all(f"to {who} {number}." in shown for who in ("first", "second") for number in range(3))


async def test_d1_two_windows_work_on_one_session_at_the_same_time(tmp_path, model, project):
    (project / "a.txt").write_text("alpha\n")
    home = tmp_path / "home"
    model.script(
        lambda body: (
            Say(calls=[Call("read_file", {"path": "a.txt"}), Call("terminal", {"command": "echo hi"})])
            if body["messages"][-1]["role"] == "user"
            else Say(text=["word "] * 20, token_delay=0.005)
        )
    )
    async with open_editor(home, model.url) as first, open_editor(home, model.url) as second:
        await asyncio.gather(first.initialize(), second.initialize())
        session = await first.new_session(project)
        await first.prompt(session, "begin.")
        await second.request("session/load", open_params(session, project))
        for editor in (first, second):
            editor.handlers["session/request_permission"] = choose("allow_once")
        await asyncio.gather(
            *(
                editor.prompt(session, f"{name} {n}.")
                for n in range(3)
                for name, editor in (("a", first), ("b", second))
            )
        )
    async with open_editor(home, model.url) as third:
        await third.initialize()
        await third.request("session/load", open_params(session, project))
        shown = third.text(session, "user_message_chunk")
        assert all(f"{name} {n}." in shown for n in range(3) for name in "ab")
        states = {update["toolCallId"]: update.get("status") for update in third.updates(session, "tool_call_update")}
        assert set(states.values()) == {"completed"}
        model.script(lambda body: "Fine.")
        assert await third.prompt(session, "Still well?") == "end_turn"


async def test_d2_the_prompt_is_on_the_disk_before_the_model_is_asked(tmp_path, model, project):
    """Also of a later turn, which takes less time than text may wait to be stored."""
    seen = []

    def look(body):
        with closing(sqlite3.connect(tmp_path / "home" / "hermes-acp" / "sessions.db")) as store:
            seen.append(str(store.execute("SELECT body FROM messages").fetchall()))
        return "Done."

    model.script(look)
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        for number in range(2):
            await editor.prompt(session, f"Question {number}.")
            assert f"Question {number}." in seen[number]


async def test_d2_every_step_that_ended_is_there_after_a_kill(tmp_path, model, project):
    (project / "a.txt").write_text("alpha\n")
    model.say(
        *[Say(text=f"Step {n}.", calls=[Call("read_file", {"path": "a.txt"})]) for n in range(3)],
        Say(text=["on "] * 500, token_delay=0.02),
    )
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        editor.begin_prompt(session, "Go.")
        await editor.wait_update(lambda update: "on " in str(update.get("content")))
        editor.process.kill()
        await editor.end()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        await again.request("session/load", open_params(session, project))
        model.say("Back.")
        await again.prompt(session, "And?")
        roles = [message["role"] for message in model.requests[-1].messages]
        assert roles == ["system", "user", *["assistant", "tool"] * 3, "assistant", "user"]
        assert str(model.requests[-1].messages).count("alpha") == 3
