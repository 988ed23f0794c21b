"""The calls of a turn as they are used up: what the model is told, what the editor is told, how it ends."""

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import open_editor


def reads(count, **more):
    return [Say(calls=[Call("read_file", {"path": "a"})], **more) for _ in range(count)]


def statuses(editor):
    told = [line["params"] for line in editor.lines if line.get("method") == "_hermes/status"]
    return [status for status in told if status["kind"] != "sandbox"]


def last_texts(model):
    """The text of the last message of each request."""
    return [str(request.messages[-1]["content"]) for request in model.requests]


@pytest.fixture
async def frugal(tmp_path, model, project):
    """An editor whose agent makes ten model calls a turn at most."""
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[agent]\nmax_turns = 10\n")
    (project / "a").write_text("alpha\n")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        yield editor


async def test_the_marks_are_notes_of_one_request_and_are_not_kept(frugal, model, project):
    model.say(*reads(9), Say("Done.", first_delay=1.0), "More.")
    session = await frugal.new_session(project)
    assert await frugal.prompt(session, "go") == "end_turn"
    noted = ["[Budget:" in text for text in last_texts(model)]
    assert noted == [False] * 7 + [True] * 3
    assert "7 of 10 model calls" in last_texts(model)[7]
    assert "Do not begin anything new" in last_texts(model)[9]
    await frugal.prompt(session, "again")
    assert "[Budget:" not in str(model.requests[-1].messages)
    assert "[Budget:" not in frugal.text(session)
    told = [status["text"] for status in statuses(frugal) if status["kind"] == "budget"]
    assert told
    assert set(told) <= {f"{calls} of 10 model calls of this turn are used." for calls in (7, 9)}


async def test_the_last_call_is_for_a_summary_with_the_tools_and_none_to_call(frugal, model, project):
    model.say(
        *reads(10), Say("I read a ten times.", calls=[Call("terminal", {"command": "touch made"})], first_delay=1.0)
    )
    session = await frugal.new_session(project)
    assert await frugal.prompt(session, "go") == "max_turn_requests"
    last = model.requests[-1].body
    assert (len(model.requests), last["tool_choice"]) == (11, "none")
    assert last["tools"] == model.requests[0].body["tools"]
    assert frugal.text(session) == "I read a ten times."
    assert not (project / "made").exists()
    assert [status["kind"] for status in statuses(frugal)][-1] == "idle"
    assert "budget" in [status["kind"] for status in statuses(frugal)]
    assert await frugal.prompt(session, "go on") == "end_turn"


async def test_without_a_model_the_summary_is_made_here(frugal, model, project):
    model.say(*reads(10), fail(401, "no"))
    session = await frugal.new_session(project)
    assert await frugal.prompt(session, "go") == "max_turn_requests"
    assert "Tools used: read_file" in frugal.text(session)


async def test_each_phase_of_a_turn_has_its_status(frugal, model, project):
    model.say(
        Say(reasoning="hm", calls=[Call("terminal", {"command": "sleep 0.6"})], first_delay=0.6, token_delay=0.3),
        Say("Done.", first_delay=0.6),
    )
    session = await frugal.new_session(project)
    await frugal.prompt(session, "go")
    kinds = [status["kind"] for status in statuses(frugal)]
    assert kinds == ["thinking", "calling", "executing", "thinking", "idle"]
    assert {status["sessionId"] for status in statuses(frugal)} == {session}


async def test_no_more_than_four_statuses_and_the_last_go_out_within_a_second(frugal, model, project):
    model.say(*reads(9, first_delay=0.2), "Done.")
    session = await frugal.new_session(project)
    await frugal.prompt(session, "go")
    times = [
        time for line, time in zip(frugal.lines, frugal.times, strict=True) if line.get("method") == "_hermes/status"
    ]
    assert len(times) > 5
    assert all(late - early > 0.9 for early, late in zip(times, times[5:], strict=False))
