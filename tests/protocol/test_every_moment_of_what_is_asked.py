"""What an editor may do after each single step while it is asked for something: nothing stays asked, open or half."""

import asyncio
import logging
from functools import partial

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.inside import open_inside
from tests.support.moments import (
    all_answered,
    cancel,
    close,
    each_leaving,
    each_moment,
    seen_again,
    view,
)
from tests.support.offers import CAPABILITIES, Offers

pytestmark = pytest.mark.slow

PLAN = Call("leave_plan_mode", {"plan": "Write b."})
QUESTION = Call("clarify", {"question": "Which?", "choices": ["red", "blue"]})

ASKED = {
    "two files": (
        Say(calls=[Call("read_file", {"path": "b"}), Call("write_file", {"path": "a", "content": "new\n"})]),
        "Written.",
    ),
    "a terminal": (Say(calls=[Call("terminal", {"command": "make"})]), "It ran."),
    "a form": (Say(calls=[QUESTION]), "So be it."),
    "a choice": (Say(calls=[QUESTION]), "So be it."),
    "a plan": (Say(calls=[PLAN]), "Agreed."),
    "what the project brings": ("Hello.",),
}
"""What the model says to a prompt, by what is asked of the editor."""


def offered(what):
    return CAPABILITIES | {"elicitation": {}} if what == "a choice" else CAPABILITIES


@pytest.fixture
def project(project):
    (project / "b").write_text("b\n")
    return project


@pytest.fixture
def no_errors(caplog):
    yield
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def ready(editor, project, model, what):
    """The params of a prompt, in a session in which this will be asked."""
    (project / "a").write_text("old\n")
    if what == "what the project brings":
        (project / "AGENTS.md").write_text("Be brief.\n")
        (project / ".mcp.json").write_text('{"mcpServers": {"none": {"command": "/nowhere", "args": []}}}')
    replies = list(ASKED[what])
    model.script(lambda body: replies.pop(0) if replies else "Hello.")
    session = await editor.new_session(project)
    if what == "a plan":
        await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    return {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}


def cancel_for_good(offers):
    """A person who has left the keyboard after that."""

    def meet(editor, request, session):
        offers.deaf = True
        cancel(editor, request, session)

    return meet


def cancel_often(offers):
    """A person who presses the key again and again."""

    def meet(editor, request, session, times=20):
        cancel(editor, request, session)
        if times and request in editor._waiting:
            asyncio.get_running_loop().call_soon(meet, editor, request, session, times - 1)

    return meet


def begin_to_fail(offers):
    """An editor that answers with errors from here on."""

    def meet(editor, request, session):
        offers.broken = True

    return meet


def left_open(wire, prompt):
    """What the agent had asked and not taken back when it answered this prompt, and what it asked after that."""
    asked = {}
    for said in (each := iter(wire)):
        match said:
            case "agent", {"method": "$/cancel_request", "params": {"requestId": id_}}:
                asked.pop(id_, None)
            case "agent", {"method": method, "id": id_}:
                asked[id_] = method
            case "agent", {"id": id_} if id_ == prompt:
                break
            case "editor", {"id": id_} if "method" not in said[1]:
                asked.pop(id_, None)
    later = [message["method"] for who, message in each if who == "agent" and {"id", "method"} <= message.keys()]
    return list(asked.values()), later


def check_offers(offers, project):
    assert offers.released == dict.fromkeys(offers.opened, 1)
    assert offers.ended | offers.failed == set(offers.opened)
    assert offers.stray == []
    assert (project / "a").read_text() in ("old\n", "new\n")
    assert (project / "b").read_text() == "b\n"


MEETINGS = [
    *((cancel_for_good, what) for what in ASKED),
    (cancel_often, "two files"),
    (cancel_often, "a terminal"),
    (close, "a terminal"),
    (close, "a form"),
    (begin_to_fail, "two files"),
    (begin_to_fail, "a terminal"),
]


@pytest.mark.parametrize(("how", "what"), MEETINGS)
async def test_nothing_stays_asked_when_a_prompt_is_answered(tmp_path, project, model_in_thread, no_errors, how, what):
    async with open_inside(tmp_path / "home", model_in_thread.url, offered(what)) as editor:
        offers = Offers(editor)
        meet = close if how is close else how(offers)

        async def begin():
            offers.broken = offers.deaf = False
            editor.wire.clear()
            return "session/prompt", await ready(editor, project, model_in_thread, what)

        async def judge(session, found):
            assert found["stopReason"] in (("end_turn",) if how is begin_to_fail else ("cancelled", "end_turn"))
            assert left_open(editor.wire, prompt_id(editor.wire)) == ([], [])
            await all_answered(editor)
            offers.broken = offers.deaf = False
            shown = view(editor.lines, session)
            assert await seen_again(editor, project, session) == shown
            model_in_thread.script(lambda body: "Hello.")
            assert await editor.prompt(session, "again") == "end_turn"
            check_offers(offers, project)

        await each_moment(editor, begin, meet, judge)


def prompt_id(wire):
    return next(message["id"] for who, message in wire if who == "editor" and message.get("method") == "session/prompt")


@pytest.mark.parametrize("what", ["two files", "a terminal"])
async def test_an_editor_that_goes_away_while_it_is_asked_finds_all_that_it_was_shown(
    tmp_path, project, model_in_thread, no_errors, what
):
    async def begin(editor):
        Offers(editor)
        editor.project = project
        return await ready(editor, project, model_in_thread, what)

    def judge():
        assert (project / "a").read_text() in ("old\n", "new\n")

    await each_leaving(partial(open_inside, tmp_path / "home", model_in_thread.url, offered(what)), begin, judge)
