"""A question of the model, as the editor and the model server see it: form, choice, chat."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor

FORMS = {"elicitation": {"form": {}}}
WHICH = Say(calls=[Call("clarify", {"question": "Which colour?", "choices": ["red", "blue"]})])
HOW = Say(calls=[Call("clarify", {"question": "How?"})])


@pytest.fixture
async def forms(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FORMS)
        yield editor


def told(model):
    """What the model was told last."""
    return model.requests[-1].messages[-1]["content"]


def answering(editor, method, result):
    asked = []

    def answer(params):
        asked.append(params)
        if isinstance(result, Exception):
            raise result
        return result

    editor.handlers[method] = answer
    return asked


def ends(editor, session):
    return [update["status"] for update in editor.updates(session) if update.get("status") in ("completed", "failed")]


async def test_a_form_takes_the_answer(forms, model, project):
    asked = answering(forms, "elicitation/create", {"action": "accept", "content": {"choice": "blue"}})
    model.say(WHICH, "Blue it is.")
    session = await forms.new_session(project)
    assert await forms.prompt(session, "go") == "end_turn"
    assert told(model) == "blue"
    [params] = asked
    assert params["message"] == "Which colour?"
    assert params["sessionId"] == session
    [card] = {update["toolCallId"] for update in forms.updates(session) if "toolCallId" in update}
    assert params["toolCallId"] == card
    assert ends(forms, session) == ["completed"]
    clarify = next(t["function"] for t in model.requests[0].body["tools"] if t["function"]["name"] == "clarify")
    assert set(clarify["parameters"]["properties"]) == {"question", "choices"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("result", "meant"),
    [
        ({"action": "accept", "content": {"answer": "by hand"}}, "by hand"),
        ({"action": "decline"}, "The user declined to answer."),
        ({"action": "cancel", "content": {"answer": "by hand"}}, "has not answered here"),
        ({"action": "_later", "content": {"answer": "by hand"}}, "has not answered here"),
        ({"action": "accept", "content": {"answer": 5}}, "has not answered here"),
        (AgentError(-32603, "no form here"), "has not answered here"),
    ],
)
async def test_every_end_of_a_form_is_told_to_the_model(forms, model, project, result, meant):
    answering(forms, "elicitation/create", result)
    model.say(HOW, "Good.")
    session = await forms.new_session(project)
    assert await forms.prompt(session, "go") == "end_turn"
    assert meant in told(model)
    assert ends(forms, session) == ["completed"]


@pytest.mark.parametrize(("number", "meant"), [(0, "has not answered here"), (1, "red"), (2, "blue")])
async def test_without_forms_choices_are_options_and_the_first_decides_nothing(editor, model, project, number, meant):
    asked = []

    def answer(params):
        asked.append(params)
        return {"outcome": {"outcome": "selected", "optionId": params["options"][number]["optionId"]}}

    editor.handlers["session/request_permission"] = answer
    model.say(WHICH, "Good.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert meant in told(model)
    [params] = asked
    assert params["toolCall"]["title"] == "Which colour?"
    assert [option["name"] for option in params["options"]] == ["I'll answer in chat", "red", "blue"]
    assert {option["kind"] for option in params["options"]} == {"allow_once"}


async def test_a_cancelled_choice_cancels_the_turn(editor, model, project):
    answering(editor, "session/request_permission", {"outcome": {"outcome": "cancelled"}})
    model.say(WHICH, "Next.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "cancelled"
    assert ends(editor, session) == ["failed"]
    assert await editor.prompt(session, "again") == "end_turn"


async def test_an_open_question_without_forms_is_asked_in_the_answer(editor, model, project):
    asked = answering(editor, "session/request_permission", {"outcome": {"outcome": "cancelled"}})
    model.say(HOW, "How shall I?")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert "put the question into your answer" in told(model)
    assert editor.text(session) == "How shall I?"
    assert asked == []
