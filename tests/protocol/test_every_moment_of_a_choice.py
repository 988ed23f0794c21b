"""A cancel after each single step of a choice of the person: what the editor is told is what holds and is kept."""

import pytest

from tests.support.inside import open_inside
from tests.support.moments import (
    CANCELLED,
    all_answered,
    cancel,
    cancel_request,
    close,
    each_moment,
    outcome,
    place,
    talked,
)

NO_MODEL = -32000


@pytest.fixture
async def inside(tmp_path, model_in_thread):
    model_in_thread.script(lambda body: "Hello.")
    async with open_inside(tmp_path / "home", model_in_thread.url) as editor:
        yield editor


def mode_told(lines, found, mode):
    """The mode that an editor shows that had shown this one."""
    for line in lines:
        match line.get("params"):
            case {"update": {"sessionUpdate": "current_mode_update", "currentModeId": told}}:
                mode = told
            case {"update": {"sessionUpdate": "config_option_update", "configOptions": options}}:
                mode = mode_among(options)
    return mode_among(found["configOptions"]) if isinstance(found, dict) and "configOptions" in found else mode


def mode_among(options):
    return next(option["currentValue"] for option in options if option["id"] == "mode")


CHOICES = {
    "a mode": ("session/set_mode", {"modeId": "plan"}, cancel_request),
    "an option": ("session/set_config_option", {"configId": "mode", "value": "plan"}, cancel_request),
    "a mode of a session that is closed": ("session/set_mode", {"modeId": "plan"}, close),
    "a command": ("session/prompt", {"prompt": [{"type": "text", "text": "/mode plan"}]}, cancel),
}


@pytest.mark.parametrize("what", CHOICES)
async def test_the_mode_that_an_editor_shows_is_the_one_that_a_load_tells(inside, project, what):
    method, params, meet = CHOICES[what]

    async def begin():
        session = await inside.new_session(project)
        inside.lines.clear()
        return method, {"sessionId": session, **params}

    async def judge(session, found):
        await all_answered(inside)
        shown = mode_told(inside.lines, found, "plan" if method == "session/set_mode" and found == {} else "ask")
        opened = inside.app.sessions.find(session)
        assert opened is None or opened.conversation.approvals.mode == shown
        await outcome(inside.begin("session/close", {"sessionId": session}))
        loaded = await inside.request("session/load", place(project, session))
        assert loaded["modes"]["currentModeId"] == mode_among(loaded["configOptions"]) == shown
        assert found != CANCELLED or shown == "ask"

    await each_moment(inside, begin, meet, judge)


LOGIN = {"authenticate": {"methodId": "credentials"}, "logout": {}}


@pytest.mark.parametrize(("method", "before"), [("authenticate", "logout"), ("logout", "authenticate")])
async def test_whoever_is_told_of_a_login_is_logged_in(inside, project, method, before):
    async def begin():
        await inside.request(before, LOGIN[before])
        return method, LOGIN[method]

    async def judge(session, found):
        assert found in ({}, CANCELLED)
        opened = await outcome(inside.begin("session/new", place(project)))
        assert isinstance(opened, dict) == ((method if found == {} else before) == "authenticate")
        assert isinstance(opened, dict) or opened == NO_MODEL

    await each_moment(inside, begin, cancel_request, judge)


async def test_a_list_is_whole_or_not_told(inside, project):
    session = await talked(inside, project)

    async def begin():
        return "session/list", {}

    async def judge(_, found):
        assert found == CANCELLED or [each["sessionId"] for each in found["sessions"]] == [session]

    await each_moment(inside, begin, cancel_request, judge)
