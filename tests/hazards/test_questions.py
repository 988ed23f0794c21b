"""E: questions of the model that an editor cannot show, refuses, or answers late."""

import asyncio
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import never, open_editor

pytestmark = pytest.mark.slow

FORMS = {"elicitation": {"form": {}}}
ASK = Say(calls=[Call("clarify", {"question": "Which?", "choices": ["red", "blue"]})])
LATE = {"action": "accept", "content": {"choice": "red"}}


def told(model):
    return model.requests[-1].messages[-1]["content"]


def asked(editor, *methods):
    return [line for line in editor.lines if line.get("method") in methods]


def ends(editor, session):
    return [update["status"] for update in editor.updates(session) if update.get("status") in ("completed", "failed")]


async def test_e1_without_forms_the_turn_ends_with_the_question_as_text(editor, model, project):
    model.say(Say(calls=[Call("clarify", {"question": "How?"})]), "How do you want it?")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert asked(editor, "elicitation/create", "session/request_permission") == []
    assert editor.text(session) == "How do you want it?"
    assert ends(editor, session) == ["completed"]


async def test_e2_an_editor_that_knows_no_such_method_makes_it_a_question_in_text(tmp_path, model, project):
    model.say(ASK, "Which do you want?")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FORMS)
        editor.handlers.clear()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert [line["method"] for line in editor.lines if "id" in line and "method" in line] == ["elicitation/create"]
        assert "put the question into your answer" in told(model)
        assert editor.text(session) == "Which do you want?"


async def test_e2_no_method_is_called_that_was_not_offered(editor, model, project):
    model.say(ASK, "Which?")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    assert len(asked(editor, "session/request_permission")) == 1
    assert asked(editor, "elicitation/create") == []


async def test_e3_there_is_no_hidden_timeout_and_a_slow_answer_counts(tmp_path, model, project):
    """Nothing below the question has a limit of its own: none of the timers of a connection is longer than this."""
    model.say(ASK, "Red.")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FORMS)

        async def slowly(params):
            await asyncio.sleep(1.5)
            return LATE

        editor.handlers["elicitation/create"] = slowly
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert told(model) == "red"


async def test_e3_a_cancel_frees_the_turn_at_once_and_the_late_answer_is_ignored(tmp_path, model, project):
    model.say(ASK)
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FORMS)
        editor.handlers["elicitation/create"] = never
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "go")
        question = await editor.wait_line(lambda line: line.get("method") == "elicitation/create")
        began = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == "cancelled"
        assert time.monotonic() - began < 5
        assert question["id"] in editor.cancelled
        editor.send({"jsonrpc": "2.0", "id": question["id"], "result": LATE})
        assert ends(editor, session) == ["failed"]
        model.say("Still here.")
        assert await editor.prompt(session, "again") == "end_turn"
        assert editor.text(session) == "Still here."


async def test_e3_the_persons_own_limit_ends_the_waiting_and_a_late_answer_is_ignored(tmp_path, model, project):
    home = tmp_path / "home"
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text("[approvals]\ntimeout = 0.2\n")
    model.say(ASK, "Then I ask here.")
    async with open_editor(home, model.url) as editor:
        await editor.initialize(FORMS)
        editor.handlers["elicitation/create"] = never
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert "put the question into your answer" in told(model)
        [question] = asked(editor, "elicitation/create")
        assert question["id"] in editor.cancelled
        editor.send({"jsonrpc": "2.0", "id": question["id"], "result": LATE})
        assert await editor.prompt(session, "again") == "end_turn"
