"""Line 56, of plan mode: how the model leaves it."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose
from tests.support.talk import cards, of_session, open_params

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAN = "1. Write the file.\n2. Say so."
LEAVE = Call("leave_plan_mode", {"plan": PLAN})
WRITE = Call("write_file", {"path": "a.txt", "content": "x\n"})


@pytest.fixture
def asked(editor):
    """The questions that were put; each is agreed to."""
    asked = []

    def answer(params):
        asked.append(params)
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = answer
    return asked


async def planning(editor, project):
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    return session


def offered(request):
    return {tool["function"]["name"] for tool in request.body["tools"]}


def results(model):
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


async def test_56_leaving_plan_mode_is_a_card_of_its_kind_with_a_question(editor, model, project, asked):
    model.say(Say(calls=[LEAVE, WRITE]), "Done.")
    session = await planning(editor, project)
    before = len(of_session(editor, session))
    assert await editor.prompt(session, "go") == "end_turn"
    assert offered(model.requests[0]) >= {"leave_plan_mode", "read_file"}
    assert not offered(model.requests[0]) & {"write_file", "patch", "terminal"}
    assert "write_file" in offered(model.requests[1])
    assert "leave_plan_mode" not in offered(model.requests[1])
    leaving, writing = cards(editor, session).values()
    assert (leaving["kind"], leaving["status"]) == ("switch_mode", "completed")
    assert (writing["kind"], writing["status"]) == ("edit", "completed")
    question, of_the_write = asked
    assert question["toolCall"]["kind"] == "switch_mode"
    assert PLAN in question["toolCall"]["content"][0]["content"]["text"]
    assert [option["kind"] for option in question["options"]] == ["allow_once", "reject_once"]
    assert of_the_write["toolCall"]["toolCallId"] == writing["toolCallId"]
    told = [line["params"]["update"] for line in of_session(editor, session)[before:] if "update" in line["params"]]
    kinds = [update["sessionUpdate"] for update in told]
    [mode] = [update for update in told if update["sessionUpdate"] == "current_mode_update"]
    [options] = [update for update in told if update["sessionUpdate"] == "config_option_update"]
    assert mode["currentModeId"] == options["configOptions"][0]["currentValue"] == "ask"
    end = next(at for at, update in enumerate(told) if update.get("status") == "completed")
    assert kinds.index("current_mode_update") < end
    await editor.request("session/close", {"sessionId": session})
    loaded = await editor.request("session/load", open_params(session, project))
    assert loaded["modes"]["currentModeId"] == "ask"


@pytest.mark.parametrize("kind", ["reject_once", "cancelled"])
async def test_56_without_the_persons_word_plan_mode_stays(editor, model, project, kind):
    """A rejection holds for the turn: the model does not ask again and again."""
    asked = []
    editor.handlers["session/request_permission"] = lambda params: (asked.append(params), choose(kind)(params))[1]
    model.say(Say(calls=[LEAVE, WRITE]), Say(calls=[LEAVE]), "I go on planning.")
    session = await planning(editor, project)
    assert await editor.prompt(session, "go") == ("cancelled" if kind == "cancelled" else "end_turn")
    assert {card["status"] for card in cards(editor, session).values()} == {"failed"}
    assert len(asked) == 1
    assert not (project / "a.txt").exists()
    loaded = await editor.request("session/load", open_params(session, project))
    assert loaded["modes"]["currentModeId"] == "plan"
    if kind == "reject_once":
        rejected, withheld, again = results(model)
        assert "rejected" in rejected
        assert "plan mode" in withheld
        assert "rejected" in again


async def test_56_it_is_neither_offered_nor_asked_about_in_another_mode(editor, model, project, asked):
    model.say(Say(calls=[LEAVE]), "There is none.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert "leave_plan_mode" not in offered(model.requests[0])
    assert "not in plan mode" in results(model)[-1]
    assert asked == []


async def test_56_a_mode_that_the_person_takes_while_the_question_is_open_stays(editor, model, project):
    async def meanwhile(params):
        request = {"sessionId": params["sessionId"], "modeId": "accept_edits"}
        await editor.request("session/set_mode", request)
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = meanwhile
    model.say(Say(calls=[LEAVE]), Say(calls=[WRITE]), "Done.")
    session = await planning(editor, project)
    assert await asyncio.wait_for(editor.prompt(session, "go"), 20) == "end_turn"
    assert (project / "a.txt").read_text() == "x\n"
    loaded = await editor.request("session/load", open_params(session, project))
    assert loaded["modes"]["currentModeId"] == "accept_edits"


@pytest.mark.parametrize("plan", ["", " \n", "x" * 30_000])
async def test_56_a_plan_that_says_nothing_or_too_much_is_not_shown(editor, model, project, asked, plan):
    model.say(Say(calls=[Call("leave_plan_mode", {"plan": plan})]), "Well.")
    session = await planning(editor, project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert asked == []
    assert "plan" in results(model)[-1]
