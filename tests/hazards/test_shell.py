"""R: commands that wait for input, that leave processes behind, and the terminals of an editor."""

import sys
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor
from tests.support.hands import Terminals

pytestmark = pytest.mark.slow

SILENT = [
    "cat",
    "head -c 5",
    f"'{sys.executable}' -c 'input()'",
    "sleep 100 & echo up",
    "(trap '' TERM; sleep 300) & exit 0",
    'read line < /dev/stdin; echo "got=$line"',
]


def run(command, **more):
    return Say(calls=[Call("terminal", {"command": command, **more})])


@pytest.fixture
async def terminal_editor(tmp_path, model):
    async with open_editor(tmp_path / "terminals", model.url) as editor:
        await editor.initialize({"terminal": True})
        yield editor


@pytest.fixture
async def terminals(terminal_editor):
    terminals = Terminals(terminal_editor)
    yield terminals
    await terminals.aclose()


async def test_r2_no_command_reads_the_wire_or_waits_for_what_it_left_behind(editor, model, project):
    """Each prompt is sent while the command before it could have eaten it."""
    model.say(*[reply for command in SILENT for reply in (run(command), "Done.")])
    session = await editor.new_session(project)
    prompts = [editor.begin_prompt(session, f"prompt {number}") for number in range(len(SILENT))]
    for prompt in prompts:
        assert (await prompt)["stopReason"] == "end_turn"
    assert "prompt 5" in str(model.requests[-1].messages)
    assert "got=\n" in str(model.requests[-1].messages[-1]["content"])


async def test_r3_the_command_of_a_terminal_is_a_shell_and_the_line_one_argument(
    terminal_editor, terminals, model, project
):
    """The editor of this test starts program and arguments literally, without a shell."""
    line = "echo a && echo 'b  c' | wc -c; cd /; pwd"
    model.say(run(line), "Done.")
    session = await terminal_editor.new_session(project)
    await terminal_editor.prompt(session, "go")
    [created] = terminals.created
    assert Path(created["command"]).is_absolute()
    assert created["args"] == ["-c", line]
    assert created["cwd"] == str(project)
    assert all(set(variable) == {"name", "value"} for variable in created.get("env") or [])
    assert "a\n5\n/\n" in model.requests[-1].messages[-1]["content"]


@pytest.mark.parametrize("failing", ["wait_for_exit", "output", "kill", "release"])
async def test_r1_whatever_call_of_a_terminal_fails_it_is_released_once(
    terminal_editor, terminals, model, project, failing
):
    released = []

    def release(params):
        released.append(params["terminalId"])
        if failing == "release":
            raise AgentError(-32603, "broken")
        return {}

    def fail(params):
        raise AgentError(-32603, "broken")

    terminal_editor.handlers[f"terminal/{failing}"] = fail
    terminal_editor.handlers["terminal/release"] = release
    model.say(run("sleep 60" if failing == "kill" else "echo hi", timeout=1), "Done.")
    session = await terminal_editor.new_session(project)
    assert await terminal_editor.prompt(session, "go") == "end_turn"
    assert released == ["t1"]


async def test_r1_parallel_terminals_and_one_that_is_closed_with_its_session_are_released_once_each(
    terminal_editor, terminals, model, project
):
    commands = [Call("terminal", {"command": command}) for command in ("echo a", "sleep 60", "exit 3")]
    model.say(Say(calls=commands))
    session = await terminal_editor.new_session(project)
    prompt = terminal_editor.begin_prompt(session, "go")
    await terminal_editor.wait_line(lambda line: len(terminals.released) == 2)
    await terminal_editor.request("session/close", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert sorted(terminals.released) == ["t1", "t2", "t3"]
