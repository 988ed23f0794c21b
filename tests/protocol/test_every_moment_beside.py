"""Two windows on one store: what the second one does to a session after each single step of a prompt in the first."""

import logging

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.inside import open_inside
from tests.support.moments import outcome, place, seen_again, view
from tests.support.stepping import after_steps

NOT_FOUND = -32002
CALLS = Say(calls=[Call("read_file", {"path": "b"}), Call("write_file", {"path": "a", "content": "a\n"})])


@pytest.fixture
async def windows(tmp_path, project, model_in_thread, caplog):
    (project / "b").write_text("b\n")
    home, url = tmp_path / "home", model_in_thread.url
    async with open_inside(home, url) as first, open_inside(home, url) as second:
        yield first, second
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def each_step(windows, project, model, method, judge):
    first, second = windows
    for steps in range(1, 1_000):
        session = await first.new_session(project)
        model.script(lambda body: "Hello.")
        assert await first.prompt(session, "go") == "end_turn"
        replies = [CALLS]
        model.script(lambda body, replies=replies: replies.pop(0) if replies else "Done.")
        met = []
        with after_steps(steps) as left:
            left.do = lambda session=session, met=met: met.append(second.begin(method, place(project, session)))
            answer = await outcome(first.begin_prompt(session, "on"))
        await judge(session, answer, await outcome(met[0]) if met else None)
        if not met:
            return
    raise AssertionError("it never came to its end")


@pytest.mark.slow
async def test_a_session_that_is_deleted_beside_its_prompt_is_gone_for_both(windows, project, model_in_thread):
    first = windows[0]

    async def judge(session, answer, deleted):
        assert answer == NOT_FOUND or answer["stopReason"] == "end_turn"
        if deleted is None:
            return
        assert deleted == {}
        for window in windows:
            assert await outcome(window.begin("session/load", place(project, session))) == NOT_FOUND
        assert await outcome(first.begin_prompt(session, "still there?")) == NOT_FOUND

    await each_step(windows, project, model_in_thread, "session/delete", judge)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["session/load", "session/fork"])
async def test_what_is_opened_beside_a_prompt_is_whole(windows, project, model_in_thread, method):
    first, second = windows

    async def judge(session, answer, opened):
        assert answer["stopReason"] == "end_turn"
        if opened is None:
            return
        other = opened.get("sessionId", session)
        assert await second.prompt(other, "beside") == "end_turn"
        seen = len(second.lines)
        await second.request("session/load", place(project, other))
        cards = view(second.lines[seen:], other)[1]
        assert set(cards.values()) <= {"completed", "failed"}
        text, cards, _ = await seen_again(first, project, session)
        assert text.startswith("Hello.")
        assert sorted(cards.values())[-2:] == ["completed", "completed"]

    await each_step(windows, project, model_in_thread, method, judge)
