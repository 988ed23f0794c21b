"""An interrupt, and a close, after each single step of a turn: the call is answered and the next one too."""

import asyncio
import os
from collections import Counter

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.library.arguments import read_arguments
from hermes_acp.library.given import read_prompt
from hermes_acp.library.prompts import Asked, Call
from hermes_acp.messages import from_dict
from hermes_acp.run_agent import _on_its_loop
from tests.fakes import model_server
from tests.fakes.model_server import Say
from tests.library.conftest import KEY
from tests.support.stepping import after_steps

EDIT = model_server.Call("write_file", {"path": "a", "content": "new\n"})
READ = model_server.Call("read_file", {"path": "b"})


def reply(body):
    match body["messages"][-1]:
        case {"role": "user", "content": "go"}:
            return Say(calls=[READ, EDIT])
        case {"role": "user", "content": "instead"}:
            return "Instead."
    return "Hello."


@pytest.fixture
def prompts(model, project):
    """Makes what lives on the loop of an agent, for the loop of the test."""
    (project / "b").write_text("b\n")
    model.script(reply)

    def make(told):
        def progress(phase, tool, call, *more):
            told.append((phase, call))

        given = {"model": "fake-model", "base_url": model.url, "api_key": KEY}
        asks = {"tool_progress_callback": progress, "approval_callback": lambda request: "once"}
        return _on_its_loop(*read_arguments(given | asks, os.environ))[0]

    return make


def ask(prompts, text):
    return prompts.begin(Call(Asked(read_prompt(text), "task")))


def interrupt(prompts):
    prompts.interrupt(None)


def interrupt_with_words(prompts):
    prompts.interrupt(read_prompt("instead"))


@pytest.mark.parametrize("meet", [interrupt, interrupt_with_words])
async def test_an_interrupted_call_is_answered_and_the_next_one_too(prompts, meet):
    for steps in range(1, 1_000):
        told = []
        made = prompts(told)
        with after_steps(steps) as left:
            left.do = lambda made=made: meet(made)
            answer = await asyncio.create_task(ask(made, "go"))
        judge(answer, told)
        assert meet is interrupt or not answer["interrupted"] or answer["final_response"] == "Instead."
        again = await ask(made, "again")
        assert again["final_response"] == "Hello."
        assert not again["interrupted"]
        judge(again, told)
        await made.aclose()
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


def judge(answer, told):
    assert answer["completed"] or answer["interrupted"]
    assert answer["error"] is None
    assert find_disorder([from_dict(message) for message in answer["messages"]]) is None
    ends = Counter(call for phase, call in told if phase == "finished")
    assert set(ends.values()) <= {1}


async def test_a_call_that_meets_a_close_is_answered_and_nothing_is_lost(prompts):
    for steps in range(1, 1_000):
        made, closing = prompts([]), []
        with after_steps(steps) as left:
            left.do = lambda made=made, closing=closing: closing.append(asyncio.ensure_future(made.aclose()))
            answer = await asyncio.create_task(ask(made, "go"))
        judge(answer, [])
        await asyncio.gather(*(closing or [made.aclose()]))
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")
