"""What the editor sends after each single step of a request: that is answered once, and nothing is stuck or left."""

import logging
import sqlite3
from functools import partial

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.inside import open_inside
from tests.support.moments import (
    CANCELLED,
    all_answered,
    cancel,
    cancel_request,
    close,
    each_leaving,
    each_moment,
    load,
    load_twice_and_cancel_one,
    outcome,
    place,
    seen_again,
    talked,
    view,
)


@pytest.fixture
async def inside(tmp_path, model_in_thread, caplog):
    async with open_inside(tmp_path / "home", model_in_thread.url) as editor:
        yield editor
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.fixture
def model(model_in_thread):
    model_in_thread.script(lambda body: "Hello.")
    return model_in_thread


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_a_session_that_is_opened_in_vain_can_be_opened_again(inside, project, model, method):
    session = await talked(inside, project)

    async def begin():
        await outcome(inside.begin("session/close", {"sessionId": session}))
        return method, place(project, session)

    async def judge(session, found):
        assert found == CANCELLED or isinstance(found, dict)
        assert isinstance(await outcome(inside.begin(method, place(project, session))), dict)
        assert await inside.prompt(session, "again") == "end_turn"

    await each_moment(inside, begin, cancel_request, judge)


@pytest.mark.parametrize("method", ["session/new", "session/fork"])
async def test_a_session_that_nobody_was_told_of_is_not_there(inside, project, model, method, tmp_path):
    source = await talked(inside, project)
    told = {source}

    async def begin():
        return method, place(project, source if method == "session/fork" else None)

    async def judge(session, found):
        if found != CANCELLED:
            told.add(found["sessionId"])
            assert await inside.prompt(found["sessionId"], "hello") == "end_turn"
        assert set(inside.app.sessions._open) == told
        with sqlite3.connect(tmp_path / "home" / "state.db") as rows:
            assert {session for (session,) in rows.execute("select id from sessions")} == told

    await each_moment(inside, begin, cancel_request, judge)


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_an_end_that_is_cancelled_leaves_a_session_that_can_be_used_or_none(inside, project, model, method):
    async def begin():
        return method, {"sessionId": await talked(inside, project)}

    async def judge(session, found):
        assert (inside.app.sessions.find(session) is None) == (found == {})
        loaded = await outcome(inside.begin("session/load", place(project, session)))
        assert isinstance(loaded, dict) == (found != {} or method == "session/close")
        if isinstance(loaded, dict):
            assert await inside.prompt(session, "again") == "end_turn"

    await each_moment(inside, begin, cancel_request, judge)


PROMPTS = {
    "words": ("Hello there.",),
    "an edit that is asked about": (Say(calls=[Call("write_file", {"path": "a", "content": "a\n"})]), "Written."),
    "two calls": (Say(calls=[Call("read_file", {"path": "b"}), Call("search_files", {"pattern": "b"})]), "Read."),
    "a plan": (Say(calls=[Call("todo", {"todos": [{"content": "a", "status": "pending"}]})]), "Planned."),
}


@pytest.mark.slow
@pytest.mark.parametrize("meet", [cancel, cancel_request, close, load, load_twice_and_cancel_one])
@pytest.mark.parametrize("what", PROMPTS)
async def test_a_prompt_is_answered_and_what_was_shown_is_shown_again(inside, project, model, what, meet):
    inside.project = project
    (project / "b").write_text("b\n")

    async def begin():
        replies = list(PROMPTS[what])
        model.script(lambda body: replies.pop(0) if replies else "Hello.")
        session = await inside.new_session(project)
        return "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}

    async def judge(session, found):
        assert found["stopReason"] in ("cancelled", "end_turn")
        await all_answered(inside)
        shown = view(inside.lines, session)
        assert await seen_again(inside, project, session) == shown
        model.script(lambda body: "Hello.")
        assert await inside.prompt(session, "again") == "end_turn"

    await each_moment(inside, begin, meet, judge)


COMMANDS = {
    "an undo": ("/undo", ()),
    "a compaction": ("/compact", ("What was said.",)),
    "a fresh start": ("/reset", ()),
    "a list": ("/help", ()),
}


@pytest.mark.slow
@pytest.mark.parametrize("meet", [cancel, close, load])
@pytest.mark.parametrize("what", COMMANDS)
async def test_a_command_is_done_or_not_and_what_was_shown_is_shown_again(inside, project, model, what, meet):
    inside.project = project
    typed, answers = COMMANDS[what]
    edit = Say(calls=[Call("write_file", {"path": "a", "content": "new\n"})])

    async def begin():
        (project / "a").write_text("old\n")
        replies = [Say(calls=[Call("read_file", {"path": "a"})]), edit, "Written.", *answers]
        model.script(lambda body: replies.pop(0) if replies else "Hello.")
        session = await inside.new_session(project)
        assert await inside.prompt(session, "go") == "end_turn"
        return "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": typed}]}

    async def judge(session, found):
        assert found["stopReason"] in ("cancelled", "end_turn")
        await all_answered(inside)
        shown = view(inside.lines, session)
        assert await seen_again(inside, project, session) == shown
        if what == "an undo":
            assert await inside.prompt(session, "/undo") == "end_turn"
            assert (project / "a").read_text() == "old\n"
        assert await inside.prompt(session, "again") == "end_turn"

    await each_moment(inside, begin, meet, judge)


@pytest.mark.slow
@pytest.mark.parametrize("what", PROMPTS)
async def test_an_editor_that_goes_away_finds_all_that_it_was_shown(tmp_path, project, model_in_thread, what):
    (project / "b").write_text("b\n")

    async def begin(editor):
        editor.project, replies = project, list(PROMPTS[what])
        model_in_thread.script(lambda body: replies.pop(0) if replies else "Hello.")
        session = await editor.new_session(project)
        return {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}

    await each_leaving(partial(open_inside, tmp_path / "home", model_in_thread.url), begin)
