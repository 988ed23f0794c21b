"""The sandbox on the whole agent: told of, offered, and around each command."""

import asyncio
import os
import signal
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, choose, open_editor
from tests.support.processes import until
from tests.support.walls import working_sandbox

HARD_TO_END = "trap '' TERM HUP; (setsid env -i sleep {0} >/dev/null 2>&1 &) ; (env -i sleep {0} &) ; sleep {0}"


@pytest.fixture
async def walled(tmp_path, model):
    working_sandbox()
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_SANDBOX="auto") as editor:
        await editor.initialize()
        yield editor


def run(line, **more):
    return Say(calls=[Call("terminal", {"command": line, **more})])


async def test_where_commands_run_is_in_the_first_status_the_question_and_the_card(walled, model, project):
    asked = []

    def answer(params):
        asked.append(params)
        return choose("allow_once")(params)

    walled.handlers["session/request_permission"] = answer
    session = await walled.new_session(project)
    model.say(run("touch made"), "Done.")
    await walled.prompt(session, "go")
    first = next(line for line in walled.lines if line.get("method") == "_hermes/status")
    assert first["params"]["text"] == "Commands run in a sandbox, without the network."
    assert "In the sandbox." in str(asked[0]["toolCall"]["content"])
    ended = [update for update in walled.updates(session) if update.get("status") == "completed"]
    assert ended[-1]["rawOutput"]["sandbox"] == "In the sandbox."


async def test_in_auto_work_runs_unasked_and_what_reaches_out_asks(walled, model, project):
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["rawInput"]["command"])
        return choose("reject_once")(params)

    walled.handlers["session/request_permission"] = answer
    session = await walled.new_session(project)
    await walled.request("session/set_mode", {"sessionId": session, "modeId": "auto"})
    lines = ("python3 -c 1 || true", "mkdir -p a && echo x > a/b", "echo x > ../out", "curl http://127.0.0.1:1")
    model.say(*map(run, lines), run("true", sandbox="outside"), "Done.")
    await walled.prompt(session, "go")
    assert asked == [lines[0], lines[2], lines[3], "true"]
    assert (project / "a" / "b").read_text() == "x\n"


async def test_without_a_sandbox_auto_is_not_there(tmp_path, model, project):
    home = tmp_path / "home"
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError):
            await editor.request("session/set_mode", {"sessionId": session, "modeId": "auto"})
    async with open_editor(home, model.url, HERMES_ACP_MODE="auto") as editor:
        await editor.initialize()
        with pytest.raises(AgentError, match="auto needs a sandbox"):
            await editor.new_session(project)


@pytest.mark.usefixtures("walled")
async def test_in_a_folder_that_holds_the_whole_home_auto_is_not_there_and_is_ask(tmp_path, model, project):
    more = {"HERMES_ACP_SANDBOX": "auto", "HERMES_ACP_MODE": "auto", "HOME": str(project)}
    async with open_editor(tmp_path / "home", model.url, **more) as editor:
        await editor.initialize()
        answer = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        assert answer["modes"]["currentModeId"] == "ask"
        assert "auto" not in [mode["id"] for mode in answer["modes"]["availableModes"]]
        with pytest.raises(AgentError):
            await editor.request("session/set_mode", {"sessionId": answer["sessionId"], "modeId": "auto"})


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP, None], ids=["kill", "hangup", "end of input"])
async def test_nothing_is_left_of_a_sandboxed_command_when_the_agent_ends(walled, model, project, end):
    seconds = f"7{os.getpid()}"
    session = await walled.new_session(project)
    model.say(run(HARD_TO_END.format(seconds)))
    walled.begin_prompt(session, "go")
    assert await walled.wait_update(lambda update: update.get("status") == "in_progress")
    assert await asyncio.to_thread(until, lambda: _sleeping(seconds) == 3, 5)
    if end is None:
        await walled.close(timeout=4)
    else:
        walled.process.send_signal(end)
    began = time.monotonic()
    assert until(lambda: _sleeping(seconds) == 0, 2), time.monotonic() - began


def _sleeping(seconds):
    """How many processes sleep for just so long."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += file.read() == b"sleep\0" + seconds.encode() + b"\0"
        except OSError:
            continue
    return found
