"""D3: what a program's turns leave in the files of trajectories, and what each entry holds."""

import json
import threading

import pytest

from hermes_acp.agent.sharegpt.checking import find_faults
from tests.fakes.model_server import Call, Say, fail

SAMPLES, FAILED = "trajectory_samples.jsonl", "failed_trajectories.jsonl"


def entries(folder, name):
    path = folder / name
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    assert list(find_faults(lines)) == []
    return [json.loads(line) for line in lines]


def turns(entry):
    return [(turn["from"], turn["value"]) for turn in entry["conversations"][1:]]


def test_d3_after_the_first_turn_the_whole_conversation_is_there_once_and_in_order(make, model, project):
    """Peer fault: after the first turn the trajectory loses the first question and repeats the newest."""
    (project / "a.txt").write_text("alpha\n")
    agent = make(save_trajectories=True)
    model.say(Say(reasoning=["look"], calls=[Call("read_file", {"path": "a.txt"})]), "It says alpha.", "Bye.")
    agent.chat("What does it say?")
    agent.chat("Thanks.")
    first, second = entries(project, SAMPLES)
    assert (first["model"], first["completed"]) == ("fake-model", True)
    assert [speaker for speaker, _ in turns(first)] == ["human", "gpt", "tool", "gpt"]
    assert turns(second) == [*turns(first), ("human", "Thanks."), ("gpt", "<think>\n</think>\nBye.")]
    assert entries(project, FAILED) == []


def test_d3_an_interrupted_turn_is_not_completed(make, model, project):
    """Peer fault: an interrupted turn is saved as a completed one."""
    started = threading.Event()
    agent = make(save_trajectories=True, stream_delta_callback=lambda text: started.set())
    model.say(Say(text=["word "] * 2000, token_delay=0.005), "This instead.")
    threading.Thread(target=lambda: started.wait(10) and agent.interrupt("Something else.")).start()
    assert agent.chat("Go.") == "This instead."
    [failed], [sample] = entries(project, FAILED), entries(project, SAMPLES)
    assert failed["completed"] is False
    assert [said for speaker, said in turns(failed) if speaker == "human"] == ["Go."]
    assert [said for speaker, said in turns(sample) if speaker == "human"] == ["Go.", "Something else."]


@pytest.mark.parametrize(
    "replies",
    [
        [fail(400, "no such thing")],
        [Say("It begins", ending="cut")],
        [Say("It begins", finish="length"), Say(" and goes on", finish="length")],
        [Say(calls=[Call("list_files", "{broken")])] * 3,
        [Say("I will not.", finish="content_filter")],
    ],
    ids=["failed", "broken off", "truncated", "malformed calls", "refused"],
)
def test_d3_a_turn_without_a_whole_answer_of_its_own_is_not_completed(make, model, project, replies):
    agent = make(save_trajectories=True)
    model.say(*replies)
    assert not agent.run_conversation("Go.")["completed"]
    [entry] = entries(project, FAILED)
    assert entry["completed"] is False
    assert turns(entry)[0] == ("human", "Go.")
    assert entries(project, SAMPLES) == []


def test_d3_a_bad_call_does_not_spoil_a_turn_that_ends_well(make, model, project):
    agent = make(save_trajectories=True)
    model.say(Say(calls=[Call("list_files", "{broken")]), "Never mind.")
    agent.chat("Go.")
    [entry] = entries(project, SAMPLES)
    assert [speaker for speaker, _ in turns(entry)] == ["human", "gpt", "tool", "gpt"]


def test_a_history_that_was_given_is_in_the_trajectory(make, model, project):
    agent = make(save_trajectories=True)
    history = [{"role": "user", "content": "Remember 7."}, {"role": "assistant", "content": "I will."}]
    agent.run_conversation("Which number?", conversation_history=history)
    [entry] = entries(project, SAMPLES)
    assert [said for speaker, said in turns(entry) if speaker == "human"] == ["Remember 7.", "Which number?"]


def test_nothing_is_kept_that_was_not_asked_for(make, model, project):
    make().chat("Go.")
    assert list(project.iterdir()) == []


def test_a_file_that_cannot_be_written_stops_no_turn(make, model, project, caplog):
    (project / SAMPLES).mkdir()
    assert make(save_trajectories=True).chat("Go.") == "Done."
    assert "could not be saved" in caplog.text
