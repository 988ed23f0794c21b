"""/undo of turns that a compaction has touched: the files come back, and the model sees what it saw before the turn."""

import json
import re

import pytest

from tests.fakes.model_server import Say
from tests.support.small_model import editor_with, facts, is_summary_request
from tests.support.talk import open_params
from tests.support.undo import patch, run, undo

CONFIG = '[compression]\nprotect_last_n = 2\n[approvals]\nmode = "accept_edits"\n'
SUMMARY = "[Summary of the conversation before this point]"
WORDS = "word " * 200


def steps_of(*calls):
    """A script: each prompt "do N" takes the step N, everything else is answered in words; summaries hold the facts."""

    def answer(body):
        if is_summary_request(body):
            return facts(body)
        last = body["messages"][-1]
        if last["role"] == "user" and (asked := re.match(r"do (\d+)", str(last["content"]))):
            return Say(calls=[calls[int(asked[1])]])
        return f"Answer {len(body['messages'])}."

    return answer


def asked_for(model):
    """What the model was sent last, without the system prompt, as text."""
    return [json.dumps(message["content"]) for message in model.requests[-1].messages[1:]]


async def prompt(editor, session, *texts):
    for text in texts:
        assert await editor.prompt(session, text) == "end_turn"


@pytest.mark.parametrize("restarted", [False, True], ids=["at once", "after a restart"])
async def test_a_turn_that_went_into_a_summary_is_taken_out_of_it(tmp_path, model, project, restarted):
    (project / "a.txt").write_text("one\n")
    model.script(steps_of(patch("a.txt", "one", "two"), patch("a.txt", "two", "three")))
    async with editor_with(tmp_path, model, 64_000, CONFIG) as editor:
        session = await editor.new_session(project)
        await prompt(editor, session, "Remember FACT-one.", "do 0 for FACT-first", "do 1 for FACT-second", "/compact")
        assert "The context was compacted" in editor.text(session)
        if not restarted:
            await assert_undone_step_by_step(editor, session, model, project)
    if restarted:
        async with editor_with(tmp_path, model, 64_000, CONFIG) as editor:
            await editor.request("session/load", open_params(session, project))
            await assert_undone_step_by_step(editor, session, model, project)
    async with editor_with(tmp_path, model, 64_000, CONFIG) as editor:
        await editor.request("session/load", open_params(session, project))
        await prompt(editor, session, "Still so?")
        assert "FACT-second" not in str(asked_for(model))
    assert model.problems == []


async def assert_undone_step_by_step(editor, session, model, project):
    await prompt(editor, session, "What is known?")
    assert asked_for(model)[0].startswith(f'"{SUMMARY}')
    assert "is undone" in await undo(editor, session)
    for text, known in (("two\n", "FACT-first"), ("one\n", "FACT-one")):
        assert "does not see it any more" in await undo(editor, session)
        assert (project / "a.txt").read_text() == text
        await prompt(editor, session, "And now?")
        seen = str(asked_for(model))
        assert known in seen
        assert "FACT-second" not in seen
        assert SUMMARY not in seen
        assert "is undone" in await undo(editor, session)
    assert "FACT-first" not in seen


async def test_a_summary_of_what_was_before_the_turn_stays(tmp_path, model, project):
    (project / "a.txt").write_text("one\n")
    model.script(steps_of(patch("a.txt", "one", "two")))
    async with editor_with(tmp_path, model, 64_000, CONFIG) as editor:
        session = await editor.new_session(project)
        await prompt(
            editor, session, f"Remember FACT-one. {WORDS}", "Go on.", "And on.", "/compact", "do 0 for FACT-two"
        )
        await undo(editor, session)
        assert (project / "a.txt").read_text() == "one\n"
        await prompt(editor, session, "And now?")
    seen = asked_for(model)
    assert seen[0].startswith(f'"{SUMMARY}')
    assert "FACT-one" in seen[0]
    assert "FACT-two" not in str(seen)


async def test_a_turn_that_was_compacted_while_it_ran_is_undone_whole(tmp_path, model, project):
    """Its first steps are in the summary, the later ones behind it."""
    (project / "a.txt").write_text("0\n")
    steps = iter(range(30))

    def answer(body):
        if is_summary_request(body):
            return facts(body)
        if "WORK" not in str(body["messages"]) or (number := next(steps, None)) is None:
            return "Done."
        usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": 9}
        return Say(text="word " * 400, calls=[patch("a.txt", str(number), str(number + 1))], usage=usage)

    model.script(answer)
    async with editor_with(tmp_path, model, 16_000, CONFIG, capabilities={"session": {"compaction": {}}}) as editor:
        session = await editor.new_session(project)
        await prompt(editor, session, "Remember FACT-one.", "WORK.")
        assert (project / "a.txt").read_text() == "30\n"
        states = [one["status"] for one in editor.updates(session, "compaction_update")]
        assert "completed" in states
        text = await undo(editor, session)
        assert "does not see it any more" in text
        assert "`a.txt`: restored" in text
        assert (project / "a.txt").read_text() == "0\n"
        await prompt(editor, session, "And now?")
    assert [one for one in asked_for(model) if "WORK" in one or SUMMARY in one] == []
    assert "FACT-one" in asked_for(model)[0]
    assert model.problems == []


async def test_a_reset_is_not_taken_back_with_the_turns_before_it(tmp_path, model, project):
    (project / "a.txt").write_text("one\n")
    model.script(steps_of(patch("a.txt", "one", "two"), run("ls")))
    async with editor_with(tmp_path, model, 64_000, CONFIG) as editor:
        session = await editor.new_session(project)
        await prompt(editor, session, "Remember FACT-one.", "do 0", "/compact", "/reset", "do 1", "And on.", "/compact")
        for _ in range(2):
            assert "does not see it any more" in await undo(editor, session)
        assert "stays as it is" in await undo(editor, session)
        assert (project / "a.txt").read_text() == "one\n"
        await prompt(editor, session, "And now?")
    assert asked_for(model) == ['"And now?"']
