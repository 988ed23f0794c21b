"""Commands in the background: they run on, tell what they wrote, and end with their session at the latest."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Background, Command
from tests.support.processes import comes_to_hold

Alive = Callable[[], int]

STUBBORN = "trap '' TERM INT HUP; while :; do sleep 1; done"
ESCAPED = "(setsid sh -c 'trap \"\" TERM; sleep 300' >/dev/null 2>&1 &)"


async def start(workspace: LocalWorkspace, line: str) -> Background:
    name = await workspace.start(Command(line, workspace.cwd, math.inf))
    return workspace.background[name]


async def test_it_runs_on_and_tells_its_output_its_time_and_its_end(workspace: LocalWorkspace) -> None:
    command = await start(workspace, "echo one; while ! [ -e go ]; do sleep 0.02; done; echo two; exit 3")
    assert await comes_to_hold(lambda: command.look().output == "one\n")
    assert command.look().exit_code is None
    (workspace.cwd / "go").touch()
    await command.wait(10)
    ended = command.look()
    assert (ended.output, ended.exit_code) == ("one\ntwo\n", 3)
    await asyncio.sleep(0.05)
    assert command.look() == ended


async def test_waiting_ends_in_time_and_when_cancelled_and_the_command_goes_on(
    workspace: LocalWorkspace, alive: Alive
) -> None:
    command = await start(workspace, "sleep 300")
    begun = monotonic()
    await command.wait(0.1)
    assert monotonic() - begun < 10
    waiting = asyncio.create_task(command.wait(60))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert alive() == 1
    assert command.look().exit_code is None


@pytest.mark.parametrize("line", ["sleep 300", STUBBORN, f"{ESCAPED}; sleep 300", f"{ESCAPED}; exit 0"])
async def test_killing_ends_it_with_all_that_it_started(workspace: LocalWorkspace, alive: Alive, line: str) -> None:
    other = await start(workspace, "sleep 300")
    command = await start(workspace, f"echo up; {line}")
    assert await comes_to_hold(lambda: command.look().output == "up\n")
    assert await comes_to_hold(lambda: alive() >= 2)
    await command.kill()
    assert alive() == 1
    assert command.look().exit_code is not None
    assert other.look().exit_code is None
    await command.kill()


@pytest.mark.parametrize("line", ["sleep 300", STUBBORN, f"{ESCAPED}; sleep 300", f"{ESCAPED}; exit 0"])
async def test_closing_the_session_leaves_nothing(workspace: LocalWorkspace, alive: Alive, line: str) -> None:
    await start(workspace, line)
    assert await comes_to_hold(lambda: alive() >= 1)
    await workspace.aclose()
    assert alive() == 0
    with pytest.raises(ToolError, match="closed"):
        await start(workspace, "true")


async def test_endless_output_keeps_both_ends_in_little_memory(workspace: LocalWorkspace) -> None:
    command = await start(workspace, "echo first; yes | head -c 30000000; echo last")
    await command.wait(30)
    output = command.look().output
    assert output.startswith("first\ny\n")
    assert output.endswith("y\nlast\n")
    assert len(output) < 33_000


async def test_the_oldest_that_have_ended_make_room_and_too_many_that_run_are_refused(
    workspace: LocalWorkspace,
) -> None:
    first = await start(workspace, "true")
    await first.wait(10)
    for _ in range(32):
        await start(workspace, "sleep 300")
    assert list(workspace.background) == [f"p{number}" for number in range(2, 34)]
    with pytest.raises(ToolError, match="32 commands run"):
        await start(workspace, "sleep 300")


async def test_no_more_than_those_run_when_all_are_started_at_once(workspace: LocalWorkspace) -> None:
    starting = [workspace.start(Command("sleep 300", workspace.cwd, math.inf)) for _ in range(40)]
    outcomes = await asyncio.gather(*starting, return_exceptions=True)
    assert sum(isinstance(outcome, ToolError) for outcome in outcomes) == 8
    assert len(workspace.background) == 32


@pytest.mark.parametrize("after", [0, 0.002, 0.01])
async def test_one_that_was_cancelled_while_it_was_being_started_is_known_or_gone(
    workspace: LocalWorkspace, alive: Alive, after: float
) -> None:
    starting = asyncio.create_task(start(workspace, "setsid sleep 300 & sleep 300"))
    await asyncio.sleep(after)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert workspace.background or alive() == 0


async def test_what_a_running_command_changes_is_no_foreign_change(workspace: LocalWorkspace, tmp_path: Path) -> None:
    path = workspace.cwd / "f"
    path.write_text("old")
    command = await start(workspace, "while ! [ -e go ]; do sleep 0.02; done; echo new > f")
    await workspace.read_lines(path, 1, 1, 100)
    (workspace.cwd / "go").touch()
    await command.wait(10)
    await workspace.write(path, b"newer", replacing=await workspace.read(path))
    assert path.read_text() == "newer"
