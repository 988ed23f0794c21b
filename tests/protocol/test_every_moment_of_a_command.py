"""A cancel, and a close, after each single step of a turn that runs commands: no process and no card is left."""

import logging
import secrets

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.inside import open_inside
from tests.support.moments import all_answered, cancel, close, each_moment, outcome, place, view
from tests.support.processes import TAG, processes_tagged

pytestmark = pytest.mark.slow

LINE = "(setsid sleep 60 >/dev/null 2>&1 &); echo done"

COMMANDS = {
    "a command": (Say(calls=[Call("terminal", {"command": LINE})]), "It ran."),
    "a background command": (
        Say(calls=[Call("terminal", {"command": f"{LINE}; sleep 60", "background": True})]),
        Say(calls=[Call("process", {"id": "p1", "action": "kill"})]),
        "It is over.",
    ),
}


@pytest.mark.parametrize(("what", "meet"), [("a command", cancel), ("a background command", close)])
async def test_no_process_and_no_card_is_left(tmp_path, project, model_in_thread, caplog, monkeypatch, what, meet):
    tag = secrets.token_hex(8)
    monkeypatch.setenv(TAG, tag)
    async with open_inside(tmp_path / "home", model_in_thread.url) as editor:

        async def begin():
            replies = list(COMMANDS[what])
            model_in_thread.script(lambda body: replies.pop(0) if replies else "Hello.")
            session = await editor.new_session(project)
            return "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}

        async def judge(session, found):
            assert found["stopReason"] in ("cancelled", "end_turn")
            await all_answered(editor)
            shown = view(editor.lines, session)
            assert set(shown[1].values()) <= {"completed", "failed"}
            if "completed" not in shown[1].values():
                assert processes_tagged(tag) == []
            await outcome(editor.begin("session/close", {"sessionId": session}))
            assert processes_tagged(tag) == []
            before = len(editor.lines)
            assert isinstance(await outcome(editor.begin("session/load", place(project, session))), dict)
            assert view(editor.lines[before:], session) == shown
            model_in_thread.script(lambda body: "Hello.")
            assert await editor.prompt(session, "again") == "end_turn"

        await each_moment(editor, begin, meet, judge)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
