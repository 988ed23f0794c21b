"""`hermes-acp sessions` while an agent has the same database open and is in the middle of a turn."""

import asyncio
import json
import sqlite3
import sys
from contextlib import asynccontextmanager, closing

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, agent_env, open_editor
from tests.support.undo import write


async def sessions(home, *arguments):
    """Status, standard output and standard error of a command, run beside the agent."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_acp", "sessions", *arguments),
        env=agent_env(home),
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def in_mid_turn(tmp_path, model, project):
    """An editor, a session, and its prompt, which has made a file and is being answered in words."""
    model.say("An answer.", Say(calls=[write("made.txt", "made\n")]), Say(text=["slowly "] * 400, token_delay=0.02))
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_MODE="accept_edits") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "First question.")
        turn = editor.begin_prompt(session, "Make it.")
        await editor.wait_update(lambda update: "slowly" in str(update.get("content")))
        yield editor, session, turn


async def stop(editor, session, turn):
    editor.notify("session/cancel", {"sessionId": session})
    return (await turn)["stopReason"]


async def test_listing_showing_and_exporting_see_the_turn_so_far_and_do_not_disturb_it(tmp_path, model, project):
    home = tmp_path / "home"
    async with in_mid_turn(tmp_path, model, project) as (editor, session, turn):
        await asyncio.sleep(0.6)
        status, out, err = await sessions(home, "list", "--all")
        assert (status, err) == (0, "")
        assert [row.split()[0] for row in out.splitlines()[1:]] == [session]
        status, out, err = await sessions(home, "show", session[:8])
        assert (status, err) == (0, "")
        assert "Make it." in out
        assert "slowly" in out
        assert f"turn 2: created {project / 'made.txt'}" in out
        status, out, err = await sessions(home, "export", session)
        assert (status, err) == (0, "")
        whole = json.loads(out)
        assert [message["role"] for message in whole["messages"]] == [
            *["user", "assistant"] * 2,
            "tool",
        ]
        assert whole["transcript"][-1]["kind"] == "text"
        for format_ in ("json", "markdown"):
            assert (await sessions(home, "export", session, "--format", format_))[0] == 0
        assert not turn.done()
        assert await stop(editor, session, turn) == "cancelled"
        assert await editor.prompt(session, "And on?") == "end_turn"
        assert await editor.close() == 0
        assert editor.stderr == ""


DELETED = "This session has been deleted"


async def assert_gone(request):
    with pytest.raises(AgentError) as error:
        await request
    assert error.value.code == -32002
    return error.value.message


async def test_a_session_deleted_in_mid_turn_is_gone_for_its_editor_and_no_other_one_suffers(tmp_path, model, project):
    home = tmp_path / "home"
    async with in_mid_turn(tmp_path, model, project) as (editor, session, turn):
        other = await editor.new_session(project)
        assert await sessions(home, "delete", session[:8], "--yes") == (0, f"Deleted {session}\n", "")
        assert DELETED in await assert_gone(turn)
        for text in ("Again.", "/undo", "/help"):
            assert DELETED in await assert_gone(editor.prompt(session, text))
        place = {"cwd": str(project), "mcpServers": []}
        mode = {"sessionId": session, "modeId": "plan"}
        assert DELETED in await assert_gone(editor.request("session/set_mode", mode))
        for method in ("session/load", "session/resume", "session/fork"):
            assert session in await assert_gone(editor.request(method, {"sessionId": session, **place}))
        assert await editor.request("session/close", {"sessionId": session}) == {}
        assert await editor.request("session/delete", {"sessionId": session}) == {}
        model.say("Fine.")
        assert await editor.prompt(other, "And here?") == "end_turn"
        assert [row["sessionId"] for row in (await editor.request("session/list"))["sessions"]] == [other]
        assert await editor.close() == 0
        assert editor.stderr.count("could not be stored") == 1
    assert_nothing_is_left_of(home, session)
    assert (project / "made.txt").read_text() == "made\n"


async def test_no_file_is_changed_in_a_session_that_was_deleted(tmp_path, model, project):
    """What could not be undone is not done."""
    home = tmp_path / "home"
    async with open_editor(home, model.url, HERMES_ACP_MODE="accept_edits") as editor:
        await editor.initialize()
        session, deleted = await editor.new_session(project), asyncio.Event()

        async def delete_first(params):
            await sessions(home, "delete", session, "--yes")
            deleted.set()
            return {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}

        editor.handlers["session/request_permission"] = delete_first
        calls = [Call("terminal", {"command": "touch allowed"}), write("never.txt", "x\n")]
        model.say(*[Say(calls=[call]) for call in calls], "Done.")
        assert DELETED in await assert_gone(editor.prompt(session, "go"))
        assert deleted.is_set()
        assert not (project / "never.txt").exists()
        assert await editor.close() == 0
    assert_nothing_is_left_of(home, session)


def assert_nothing_is_left_of(home, session):
    with closing(sqlite3.connect(home / "hermes-acp" / "sessions.db")) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.execute("PRAGMA foreign_key_check").fetchall() == []
        for table in ("segments", "transcript", "turns"):
            owners = {owner for (owner,) in store.execute(f"SELECT session_id FROM {table}")}
            assert session not in owners, table
        assert store.execute("SELECT count(*) FROM contents").fetchone() == (0,)
