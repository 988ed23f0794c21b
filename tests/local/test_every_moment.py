"""A cancel, and an end of the session, after each single step of a command: no process of it is left."""

import asyncio

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Command
from tests.support.stepping import after_steps

SHORT = "(setsid sleep 60 >/dev/null 2>&1 &); echo done"
"""It leaves a process in a session of its own."""

LONG = "(setsid sleep 60 >/dev/null 2>&1 &); sleep 60"


def run(workspace):
    return workspace.run(Command(SHORT, workspace.cwd, 20), lambda text: None)


def run_out_of_time(workspace):
    return workspace.run(Command(LONG, workspace.cwd, 0.02), lambda text: None)


async def start_and_kill(workspace):
    name = await workspace.start(Command(LONG, workspace.cwd, 20))
    await workspace.background[name].kill()


async def noting(work, ended):
    """Note when it has come to its end: a task may be cancelled in the very step of its end."""
    ended.append(await work)


@pytest.mark.parametrize("work", [run, run_out_of_time, start_and_kill])
async def test_a_command_that_is_cancelled_leaves_no_process(tmp_path, alive, work):
    for steps in range(1, 1_000):
        workspace, ended = LocalWorkspace(tmp_path), []
        with after_steps(steps) as left:
            working = asyncio.create_task(noting(work(workspace), ended))
            left.do = working.cancel
            await asyncio.wait([working])
        if not ended and not workspace.background:
            assert alive() == 0
        await workspace.aclose()
        assert alive() == 0
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("work", [run, start_and_kill])
async def test_a_session_that_ends_leaves_no_process(tmp_path, alive, work):
    for steps in range(1, 1_000):
        workspace, ending = LocalWorkspace(tmp_path), []

        def end(workspace=workspace, ending=ending):
            ending.append(asyncio.ensure_future(workspace.aclose()))

        with after_steps(steps) as left:
            left.do = end
            working = asyncio.create_task(work(workspace))
            await asyncio.wait([working])
        await asyncio.gather(*(ending or [workspace.aclose()]))
        assert alive() == 0
        assert isinstance(working.exception(), ToolError | None)
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")
