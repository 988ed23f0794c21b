"""Trajectories of an editor's sessions: where they are kept, and what each end of a turn leaves there."""

import asyncio
import json

import pytest

from hermes_acp.agent.sharegpt.checking import find_faults
from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import AgentError, open_editor

pytestmark = pytest.mark.slow

SAMPLES, FAILED = "trajectory_samples.jsonl", "failed_trajectories.jsonl"


@pytest.fixture
def state(tmp_path):
    """The folder of settings and state, in which trajectories are asked for."""
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[trajectories]\nsave = true\n[agent]\nmax_turns = 2\n", "utf-8")
    return folder


@pytest.fixture
async def editor(tmp_path, model, state):
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_AUTO_TITLE="false") as editor:
        await editor.initialize()
        yield editor


def entries(state, name):
    path = state / name
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    assert list(find_faults(lines)) == []
    return [json.loads(line) for line in lines]


def turns(entry):
    return [(turn["from"], turn["value"]) for turn in entry["conversations"][1:]]


async def test_a_turn_with_an_answer_is_a_sample_with_all_that_went_before(editor, model, project, state):
    (project / "a.txt").write_text("alpha\n")
    model.say(Say(reasoning=["look"], calls=[Call("read_file", {"path": "a.txt"})]), "It says alpha.", "Bye.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "read") == "end_turn"
    assert await editor.prompt(session, "thanks") == "end_turn"
    first, second = entries(state, SAMPLES)
    assert (first["model"], first["completed"]) == ("fake-model", True)
    assert [speaker for speaker, _ in turns(first)] == ["human", "gpt", "tool", "gpt"]
    assert turns(first)[1][1].startswith('<think>\nlook\n</think>\n<tool_call>\n{"name": "read_file"')
    assert '"name": "read_file", "description"' in first["conversations"][0]["value"]
    assert turns(second) == [*turns(first), ("human", "thanks"), ("gpt", "<think>\n</think>\nBye.")]
    assert entries(state, FAILED) == []
    assert [path.name for path in project.iterdir()] == ["a.txt"]
    assert (state / SAMPLES).stat().st_mode & 0o077 == 0


async def test_a_cancelled_turn_is_not_completed(editor, model, project, state):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    editor.notify("session/cancel", {"sessionId": session})
    async with asyncio.timeout(5):
        assert (await prompt)["stopReason"] == "cancelled"
    [entry] = entries(state, FAILED)
    assert entry["completed"] is False
    assert turns(entry)[0] == ("human", "hi")
    assert entries(state, SAMPLES) == []


async def test_a_failed_turn_is_not_completed(editor, model, project, state):
    model.say(fail(400, "no such thing"))
    session = await editor.new_session(project)
    with pytest.raises(AgentError):
        await editor.prompt(session, "hi")
    assert [turns(entry)[0] for entry in entries(state, FAILED)] == [("human", "hi")]
    assert entries(state, SAMPLES) == []


@pytest.mark.parametrize(
    ("replies", "stop"),
    [
        ([Say(text="I will not.", finish="content_filter")], "refusal"),
        ([Call("list_files", {}), Call("list_files", {}), "Out of calls."], "max_turn_requests"),
    ],
)
async def test_a_turn_that_was_ended_is_not_completed(editor, model, project, state, replies, stop):
    model.say(*(Say(calls=[reply]) if isinstance(reply, Call) else reply for reply in replies))
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hi") == stop
    [entry] = entries(state, FAILED)
    assert turns(entry)[0] == ("human", "hi")
    assert turns(entry)[-1][0] == "gpt"
    assert entries(state, SAMPLES) == []


async def test_a_file_that_cannot_be_written_stops_no_turn(editor, model, project, state):
    (state / SAMPLES).mkdir()
    model.say("Hello.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hi") == "end_turn"
    assert "could not be saved" in editor.stderr


async def test_nothing_is_kept_that_was_not_asked_for(tmp_path, model, project):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        model.say("Hello.")
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"
    assert list(tmp_path.rglob("*.jsonl")) == []
