"""The question to the person: what is asked, and what the model is told."""

import asyncio

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.tools.clarify import ASK_IN_ANSWER
from hermes_acp.errors import ToolError, TurnCancelled
from hermes_acp.events import ToolFinished
from hermes_acp.host import Nobody
from hermes_acp.messages import AssistantMessage, ToolCall, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.base import ToolContext


class Person(RecordingHost):
    """Answers every question with this; an exception is raised."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    async def clarify(self, question):
        await super().clarify(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_the_answer_is_the_result(scene):
    scene.host = Person("the red one")
    result = await scene.call("clarify", question=" Which? ", choices=["red", " red ", "", "blue"])
    assert result.text == "the red one"
    [question] = scene.host.questions
    assert (question.call_id, question.text, question.choices) == ("call_1", "Which?", ("red", "blue"))


@pytest.mark.parametrize("answer", [None, "", "  "])
async def test_without_an_answer_the_model_is_told_to_ask_in_its_own(scene, answer):
    scene.host = Person(answer)
    assert (await scene.call("clarify", question="Which?")).text == ASK_IN_ANSWER


async def test_where_nobody_is_the_model_is_told_so_at_once(scene):
    tool = scene.talk.toolbox["clarify"]
    context = ToolContext("call_1", scene.talk.workspace, host=Nobody())
    action = await tool.prepare(tool.params(question="Which?"), context)
    assert (await action.run()).text == ASK_IN_ANSWER


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"question": "  "}, "empty"),
        ({"question": "x" * 2001}, "2000"),
        ({"question": "x", "choices": list("abcdefg")}, "at most 6"),
        ({"question": "x", "choices": ["y" * 201]}, "200"),
    ],
)
async def test_a_question_that_cannot_be_shown_is_refused(scene, arguments, told):
    with pytest.raises(ToolError, match=told):
        await scene.call("clarify", **arguments)
    assert scene.host.questions == []


async def test_questions_of_one_reply_are_asked_one_after_the_other(scene):
    open_now, most = [0], [0]

    class Slow(RecordingHost):
        async def clarify(self, question):
            open_now[0] += 1
            most[0] = max(most[0], open_now[0])
            await asyncio.sleep(0.01)
            open_now[0] -= 1
            return question.text

    calls = tuple(ToolCall(str(n), "clarify", {"question": f"{n}?"}) for n in range(3))
    scene.script(AssistantMessage(tool_calls=calls), AssistantMessage("Done."))
    host = Slow()
    await run_turn(scene.agent, scene.talk, user("go"), host)
    assert [event.result.text for event in host.of(ToolFinished)] == ["0?", "1?", "2?"]
    assert most == [1]


async def test_a_person_who_ends_the_turn_ends_it_and_runs_no_sibling(scene, tmp_path):
    host = Person(TurnCancelled("Cancelled by the user."))
    calls = (
        ToolCall("1", "clarify", {"question": "?"}),
        ToolCall("2", "write_file", {"path": "made", "content": "x"}),
    )
    scene.script(AssistantMessage(tool_calls=calls))
    with pytest.raises(TurnCancelled):
        await run_turn(scene.agent, scene.talk, user("go"), host)
    assert [event.result.is_error for event in host.of(ToolFinished)] == [True, True]
    assert list(tmp_path.iterdir()) == []
    assert find_disorder(scene.talk.messages) is None


def test_the_model_is_told_never_to_ask_for_secrets(scene):
    assert "Never ask for\npasswords or keys" in scene.talk.toolbox["clarify"].schema()["description"]
