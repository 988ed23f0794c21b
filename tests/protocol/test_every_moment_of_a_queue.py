"""Prompts that meet a turn at each of its steps: each is answered once, in its turn, by what it asked for."""

import asyncio
import logging

import pytest

from tests.support.inside import open_inside
from tests.support.moments import all_answered, cancel_request, close, outcome, seen_again, view
from tests.support.stepping import after_steps

pytestmark = pytest.mark.slow


def reply(body):
    return {"go": "First.", "next": "Second."}.get(body["messages"][-1]["content"], "Hello.")


@pytest.fixture
async def inside(tmp_path, model_in_thread, caplog):
    model_in_thread.script(reply)
    async with open_inside(tmp_path / "home", model_in_thread.url) as editor:
        yield editor
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.fixture
def impatient(tmp_path):
    """A person whose prompts end the turn that they meet."""
    (tmp_path / "home" / "hermes-acp").mkdir(parents=True)
    (tmp_path / "home" / "hermes-acp" / "config.toml").write_text('[agent]\nbusy_prompt = "interrupt"\n')


async def each_moment(editor, project, at_once, later):
    """Send these prompts, and do this after each step that is made until they are answered: the stop reasons of all
    prompts, in the order in which they were sent, the text, and how many of them had no answer when it was done."""
    for steps in range(1, 1_000):
        session = await editor.new_session(project)
        asked, begun, waited = [], [], []

        def meet(session=session, asked=asked, begun=begun, waited=waited):
            waited += [request for request in asked if request in editor._waiting]
            begun += filter(None, [later(editor, asked[-1], session)])

        with after_steps(steps) as left:
            left.do = meet
            for text in at_once:
                begun.append(editor.begin_prompt(session, text))
                asked.append(editor.last_id)
            await asyncio.wait(list(begun))
        found = [(await outcome(answer))["stopReason"] for answer in begun]
        await all_answered(editor)
        yield found, view(editor.lines, session)[0], len(waited)
        await judge(editor, project, session)
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


async def judge(editor, project, session):
    shown = view(editor.lines, session)
    assert await seen_again(editor, project, session) == shown
    assert await editor.prompt(session, "again") == "end_turn"


def ask_next(editor, request, session):
    return editor.begin_prompt(session, "next")


def stop(editor, request, session):
    return editor.begin_prompt(session, "/stop")


async def test_a_prompt_that_meets_a_turn_waits_for_its_end(inside, project):
    async for found, text, _ in each_moment(inside, project, ["go"], ask_next):
        assert found == ["end_turn"] * len(found)
        assert text == ("First.Second." if len(found) == 2 else "First.")


async def test_a_prompt_of_an_impatient_person_ends_the_turn_that_it_meets(impatient, inside, project):
    firsts = []
    async for found, text, _ in each_moment(inside, project, ["go"], ask_next):
        assert found[1:] in ([], ["end_turn"])
        assert text.endswith("Second." if len(found) == 2 else "First.")
        firsts.append(found[0])
    ended = firsts.index("end_turn")
    assert ended > 10
    assert set(firsts[:ended]) == {"cancelled"}


@pytest.mark.parametrize("meet", [stop, close])
async def test_what_ends_a_turn_ends_all_that_wait(inside, project, meet):
    async for found, text, waited in each_moment(inside, project, ["go", "next"], meet):
        first, second, *own = found
        assert own in ([], ["end_turn"])
        assert second == "cancelled" or (waited < 2 and first == "end_turn")
        assert first == "cancelled" or "First." in text
        assert second == "cancelled" or "Second." in text


async def test_a_waiting_prompt_is_taken_back_alone(inside, project):
    async for found, text, waited in each_moment(inside, project, ["go", "next"], cancel_request):
        assert found[0] == "end_turn"
        assert found[1] == "cancelled" or waited < 2
        assert text.startswith("First.")
