"""The task list as the editor's plan, through loads, resumes and restarts."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import open_editor
from tests.support.talk import open_params


def todo(*tasks, merge=False):
    todos = [{"id": id_, "content": f"do {id_}", "status": status} for id_, status in tasks]
    return Say(calls=[Call("todo", {"todos": todos, "merge": merge})])


def plans(editor, session):
    found = [update["entries"] for update in editor.updates(session, "plan")]
    return [[(entry["content"], entry["status"]) for entry in entries] for entries in found]


def told(model):
    return model.requests[-1].messages[-1]["content"]


FIRST = [("do a", "in_progress"), ("do b", "pending")]
SECOND = [("do a", "completed"), ("do b", "pending")]


async def test_i6_each_change_is_a_whole_plan_and_a_load_shows_them_in_order(editor, model, project, tmp_path):
    model.say(
        todo(("a", "in_progress"), ("b", "pending"), ("c", "cancelled")), todo(("a", "completed"), merge=True), "Ok."
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert plans(editor, session) == [FIRST, SECOND]
    assert [line for line in editor.lines if line.get("method") == "session/request_permission"] == []
    assert told(model).splitlines() == [
        "3 tasks: 1 pending, 1 completed, 1 cancelled",
        "- [completed] a: do a",
        "- [pending] b: do b",
        "- [cancelled] c: do c",
    ]
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        await again.request("session/load", open_params(session, project))
        assert plans(again, session) == [FIRST, SECOND]
        kinds = [update["sessionUpdate"] for update in again.updates(session)]
        assert kinds.index("plan") > kinds.index("tool_call")


async def test_the_list_is_there_after_a_resume_and_in_a_fork(editor, model, project, tmp_path):
    model.say(todo(("a", "in_progress"), ("b", "pending")), "Ok.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    place = open_params(session, project)
    fork = (await editor.request("session/fork", place))["sessionId"]
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        for id_ in (session, fork):
            await again.request("session/resume", {**place, "sessionId": id_})
            model.say(todo(("a", "completed"), merge=True), "Ok.")
            await again.prompt(id_, "go on")
            assert plans(again, id_) == [SECOND]
            assert "1 pending, 1 completed" in told(model)


@pytest.mark.slow
async def test_the_list_is_there_after_the_session_was_idle(tmp_path, model, project):
    home = tmp_path / "home"
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text("[acp]\nidle_minutes = 0.0005\n")
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        model.say(todo(("a", "in_progress"), ("b", "pending")), "Ok.")
        await editor.prompt(session, "go")
        await asyncio.sleep(0.2)
        model.say(todo(("a", "completed"), merge=True), "Ok.")
        await editor.prompt(session, "go on")
        assert plans(editor, session) == [FIRST, SECOND]


async def test_a_wrong_list_is_an_error_that_says_what_to_change(editor, model, project):
    model.say(todo(("a", "done")), "Sorry.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert "'completed' or 'cancelled'" in told(model)
    assert plans(editor, session) == []
