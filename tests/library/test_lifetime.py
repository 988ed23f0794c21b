"""What an agent leaves behind, however it ends, and what it does not do before it is needed."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.library.conftest import KEY
from tests.support.processes import lives, until

HEAVY = ("openai", "anthropic", "pydantic", "asyncio", "typing")


@pytest.fixture
def threads():
    """The threads of agents that this test has begun."""
    before = {*threading.enumerate()}
    return lambda: [one.name for one in {*threading.enumerate()} - before if one.name.startswith("hermes-")]


def run_script(script, model, *, timeout=20, **environment):
    """A program of its own that uses the library."""
    head = f"from hermes_acp import AIAgent\nURL, KEY = {model.url!r}, {KEY!r}\n"
    return subprocess.run(
        [sys.executable, "-c", head + script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


MAKE = "agent = AIAgent(model='fake-model', base_url=URL, api_key=KEY)\n"


def test_importing_the_package_loads_nothing_heavy():
    script = f"import sys, hermes_acp; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "[]\n"


def test_importing_the_agent_loads_no_model_sdk():
    script = "import sys; from hermes_acp import AIAgent; print('openai' in sys.modules, 'anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_an_agent_that_was_not_asked_anything_has_no_thread(make, threads):
    agent = make()
    assert threads() == []
    agent.close()
    agent.close()


def test_a_closed_agent_leaves_no_thread_and_no_connection_and_says_so(make, model, threads):
    with make(stream_delta_callback=lambda text: None) as agent:
        agent.chat("Go.")
        assert threads()
    assert until(lambda: threads() == [], 2)
    with pytest.raises(RuntimeError, match="closed"):
        agent.chat("Go.")
    agent.interrupt()


def test_an_agent_that_nobody_holds_ends_by_itself(make, model, threads):
    agents = [make(stream_delta_callback=lambda text: None)]
    make.__closure__[0].cell_contents.clear()
    agents[0].chat("Go.")
    agents.clear()
    gc.collect()
    assert until(lambda: threads() == [], 2)


def test_closing_in_the_middle_of_a_call_ends_it_as_interrupted(make, model):
    results, started = [], threading.Event()
    agent = make(stream_delta_callback=lambda text: started.set())
    model.say(Say(text=["word "] * 2000, token_delay=0.005))
    caller = threading.Thread(target=lambda: results.append(agent.run_conversation("Go.")))
    caller.start()
    assert started.wait(10)
    agent.close()
    caller.join(5)
    assert [result["interrupted"] for result in results] == [True]
    assert until(lambda: model.aborted, 1)


@pytest.mark.parametrize("way", ["close", "aclose"])
def test_an_async_callback_may_close_its_own_agent_and_nothing_is_said_of_it(make, model, threads, caplog, way):
    told = []

    async def close_it(text):
        told.append(text)
        if way == "aclose":
            await agent.aclose()
        else:
            agent.close()

    agent = make(stream_delta_callback=close_it)
    model.say(Say(text=["word "] * 200, token_delay=0.01))
    result = agent.run_conversation("Go.")
    assert result["interrupted"]
    assert told
    assert until(lambda: threads() == [], 5)
    gc.collect()
    assert [record.getMessage() for record in caplog.records if "callback" in record.getMessage()] == []


def test_its_commands_end_with_it(make, model, project):
    agent = make(approval_callback=lambda request: "once")
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60 & echo $! > pid"})]), "Done.")
    agent.chat("Go.")
    pid = int((project / "pid").read_text())
    assert lives(pid)
    agent.close()
    assert until(lambda: not lives(pid), 2)


def test_in_a_running_loop_the_sync_form_names_the_async_one(make):
    agent = make()

    async def main():
        for call in (agent.chat, agent.run_conversation):
            with pytest.raises(RuntimeError, match=r"await agent\.arun_conversation"):
                call("Go.")

    asyncio.run(main())


def test_one_agent_serves_several_event_loops_one_after_the_other(make, model):
    """A client that belongs to the first loop would fail in the second."""
    agent = make()
    answers = [asyncio.run(agent.arun_conversation(str(number)))["final_response"] for number in range(3)]
    assert [*answers, agent.chat("And now without one.")] == ["Done."] * 4
    assert len(model.requests[-1].messages) == 8
    assert model.requests[-1].headers["host"]


def test_a_connection_is_used_again(make, model):
    agent = make()
    agent.chat("One.")
    before = model.connections
    agent.chat("Two.")
    assert model.connections == before


def test_two_agents_at_once_do_not_meet(make, model):
    model.script(lambda body: Say(text=[f"to {body['messages'][-1]['content']}"], first_delay=0.05))
    agents, answers = [make(), make()], {}

    def talk(number):
        answers[number] = [agents[number].chat(f"{number}.{turn}") for turn in range(3)]

    callers = [threading.Thread(target=talk, args=(number,)) for number in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(10)
    assert answers == {number: [f"to {number}.{turn}" for turn in range(3)] for number in range(2)}
    assert agents[0].session_id != agents[1].session_id


@pytest.mark.slow
def test_the_end_of_the_interpreter_waits_for_nobody(make, model):
    """Neither for an agent that was not closed, nor for a callback that hangs, nor for a running turn."""
    script = MAKE.replace(")", ", stream_delta_callback=lambda text: time.sleep(60))") + (
        "import threading\n"
        "threading.Thread(target=agent.chat, args=('Go.',), daemon=True).start()\n"
        "time.sleep(1.5)\n"
        "print('end')\n"
    )
    model.say(Say(text=["word "] * 2000, token_delay=0.01))
    began = time.monotonic()
    done = run_script("import time\n" + script, model)
    assert (done.returncode, done.stdout) == (0, "end\n")
    assert time.monotonic() - began < 8
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_thread_that_outlives_the_main_one_is_served(make, model, project):
    """From then on Python's own pools of threads take no work."""
    script = MAKE + (
        "import threading, time\n"
        "def talk():\n"
        "    time.sleep(0.5)\n"
        "    print(agent.chat('Go.'))\n"
        "threading.Thread(target=talk).start()\n"
    )
    model.say(Say(calls=[Call("list_files", {})]), "Seen.")
    assert run_script(script, model).stdout == "Seen.\n"


@pytest.mark.slow
def test_after_a_fork_the_agent_says_that_it_belongs_to_another_process(make, model):
    script = MAKE + (
        "import os, sys\n"
        "agent.chat('Go.')\n"
        "if os.fork() == 0:\n"
        "    try: agent.chat('Again.')\n"
        "    except RuntimeError as error: print(error, flush=True)\n"
        "    sys.exit(0)\n"
        "os.wait()\n"
        "print(agent.chat('Still here?'))\n"
    )
    done = run_script(script, model)
    assert done.stdout == "This agent was made in another process; make a new one after a fork.\nDone.\n"
    assert done.returncode == 0


@pytest.mark.slow
def test_an_agent_made_before_a_fork_is_of_no_use_in_the_child_even_if_it_was_not_used(make, model):
    script = MAKE + (
        "import os, sys\n"
        "if os.fork() == 0:\n"
        "    try: agent.chat('Go.')\n"
        "    except RuntimeError as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    assert "another process" in run_script(script, model).stdout
