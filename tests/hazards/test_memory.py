"""M1: sessions that are closed or idle cost nothing, and open ones little."""

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager, closing

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor
from tests.support.processes import processes_tagged
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

SOON = 0.003
"""Minutes until a session is idle."""


def resident(editor):
    """The memory of the agent's process, in KiB."""
    with open(f"/proc/{editor.process.pid}/smaps_rollup", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))


@asynccontextmanager
async def forgetful_editor(home, model, minutes=SOON):
    """An editor whose agent takes sessions for idle after so many minutes."""
    config = home / "hermes-acp" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[acp]\nidle_minutes = {minutes}\n", encoding="utf-8")
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        yield editor


async def become_idle():
    await asyncio.sleep(SOON * 60 + 0.5)


def rewrite(home, before, after):
    """Change what the store remembers, to see whether somebody reads it."""
    with closing(sqlite3.connect(home / "hermes-acp" / "sessions.db")) as connection, connection:
        connection.execute("UPDATE messages SET body = replace(body, ?, ?)", (before, after))


async def test_an_idle_session_comes_back_from_the_store_when_it_is_prompted(tmp_path, model, project):
    async with forgetful_editor(tmp_path, model) as editor:
        (project / "a.txt").write_text("alpha\n")
        model.say(Say(calls=[Call("read_file", {"path": "a.txt"})]), "It says alpha.")
        session = await editor.new_session(project)
        await editor.prompt(session, "What is in it?")
        await become_idle()
        rewrite(tmp_path, "It says alpha.", "It says beta.")
        shown = len(editor.updates(session))
        assert await editor.prompt(session, "And now?") == "end_turn"
        said = [message["content"] for message in model.requests[-1].messages if message["role"] != "system"]
        assert said[0] == "What is in it?"
        assert "alpha" in said[2]
        assert said[3:] == ["It says beta.", "And now?"]
        kinds = {update["sessionUpdate"] for update in editor.updates(session)[shown:]}
        assert kinds <= {"agent_message_chunk", "session_info_update", "usage_update"}


async def test_a_session_that_is_used_does_not_leave_memory(tmp_path, model, project):
    model.say("The first.", Say(text=["slow"], first_delay=SOON * 60 + 0.5), "The third.")
    async with forgetful_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        await editor.prompt(session, "1")
        running = editor.begin_prompt(session, "2")
        await model.until(lambda server: len(server.requests) == 2)
        rewrite(tmp_path, "The first.", "Something else.")
        await running
        await editor.prompt(session, "3")
        assert "The first." in str(model.requests[-1].messages)


async def test_answers_options_and_background_processes_outlive_idleness(tmp_path, model, project):
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["rawInput"]["command"])
        return choose("reject_always" if "refused" in asked[-1] else "allow_always")(params)

    commands = ["sleep 300 & echo up", "touch allowed", "touch refused"]
    model.say(*(Say(calls=[Call("terminal", {"command": command})]) for command in commands), "Done.")
    async with forgetful_editor(tmp_path, model) as editor:
        editor.handlers["session/request_permission"] = answer
        session = await editor.new_session(project)
        await editor.prompt(session, "run")
        before = set(processes_tagged(editor.tag))
        await become_idle()
        (project / "allowed").unlink()
        model.say(*(Say(calls=[Call("terminal", {"command": command})]) for command in commands[1:]), "Done.")
        await editor.prompt(session, "again")
        assert asked == commands
        assert (project / "allowed").exists()
        assert not (project / "refused").exists()
        assert set(processes_tagged(editor.tag)) >= before
        await become_idle()
        await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
        await become_idle()
        await editor.prompt(session, "look")
        offered = {tool["function"]["name"] for tool in model.requests[-1].body["tools"]}
        assert not offered & {"terminal", "write_file", "patch"}


async def test_a_store_that_fails_while_a_session_is_idle_is_an_error_of_that_prompt_only(tmp_path, model, project):
    model.say("The first.")
    async with forgetful_editor(tmp_path, model) as editor:
        session = await editor.new_session(project)
        await editor.prompt(session, "1")
        await become_idle()
        with closing(sqlite3.connect(tmp_path / "hermes-acp" / "sessions.db")) as other:
            other.execute("ALTER TABLE messages RENAME TO gone")
            with pytest.raises(Exception, match="-32603"):
                await editor.prompt(session, "2")
            other.execute("ALTER TABLE gone RENAME TO messages")
        assert await editor.prompt(session, "3") == "end_turn"
        assert "The first." in str(model.requests[-1].messages)


@pytest.mark.slow
async def test_the_history_of_idle_sessions_is_not_in_memory(tmp_path, model, project):
    async with forgetful_editor(tmp_path, model) as editor:
        await editor.prompt(await editor.new_session(project), "hi")
        before = resident(editor)
        for count in range(30):
            session = await editor.new_session(project)
            await editor.prompt(session, "x" * 2_000_000)
            # What was in memory at one time may stay with the allocator: few sessions at a time are.
            if count % 3 == 2:
                await become_idle()
        async with asyncio.timeout(30):
            while resident(editor) - before >= 30_000:
                await asyncio.sleep(0.2)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_thousand_closed_sessions_leave_nothing_and_open_ones_little(editor, model, project):
    editor.dialogue = None
    await editor.prompt(await editor.new_session(project), "hi")

    async def make(count, close):
        for _ in range(count):
            session = await editor.new_session(project)
            if close:
                await editor.request("session/close", {"sessionId": session})
            editor.lines.clear()
            editor.sent.clear()

    await make(500, close=True)
    before = resident(editor)
    await make(1500, close=True)
    assert resident(editor) - before < 2_000
    before = resident(editor)
    await make(500, close=False)
    assert (resident(editor) - before) / 500 < 50


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_load_of_five_hundred_long_outputs_is_a_few_megabytes_with_notes(tmp_path, model, project):
    """M2."""
    command = "yes 0123456789 | head -c 1000000"
    model.say(*[Say(calls=[Call("terminal", {"command": command})] * 50)] * 10, "Done.")
    async with open_editor(tmp_path, model.url, HERMES_ACP_CONTEXT_WINDOW="100000000") as editor:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("allow_always")
        session = await editor.new_session(project)
        assert await editor.prompt(session, "run", timeout=200) == "end_turn"
        await editor.close()
    async with open_editor(tmp_path, model.url) as editor:
        await editor.initialize()
        await editor.prompt(await editor.new_session(project), "hi")
        before = resident(editor)
        await editor.request("session/load", open_params(session, project))
        assert sum(len(json.dumps(line)) for line in editor.lines) < 6_000_000
        assert resident(editor) - before < 60_000
        ends = [update for update in editor.updates(session) if update.get("status") == "completed"]
        assert len(ends) == 500
        for end in ends:
            assert "left out" in end["content"][0]["content"]["text"]
        assert editor.text(session) == "Done."
