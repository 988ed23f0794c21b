"""Commands: they end when they end, and nothing of them is left that should not be."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local import survivors
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Command, Completed
from tests.support.processes import comes_to_hold, lives

Alive = Callable[[], int]

STUBBORN = "trap '' TERM INT HUP; while :; do sleep 1; done"
ESCAPED = "(setsid sh -c 'trap \"\" TERM; sleep 300' >/dev/null 2>&1 &)"
PYTHON = shlex.quote(sys.executable)
DAEMON = f"""{PYTHON} -c 'import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(300)' >/dev/null 2>&1"""
WITHOUT_TAG = "env -i sleep 300 & setsid env -i sleep 300 & sleep 300"


async def run(workspace: LocalWorkspace, line: str, timeout: float = 20) -> Completed:
    return await workspace.run(Command(line, workspace.cwd, timeout), lambda text: None)


@pytest.mark.parametrize(
    ("line", "code", "output"),
    [
        ("echo out; echo err >&2", 0, "out\nerr\n"),
        ("exit 3", 3, ""),
        ("kill -9 $$", -9, ""),
        ("no-such-program-here", 127, None),
        ("cat; echo read", 0, "read\n"),
        (f"{PYTHON} -c 'input()' 2>&1 | tail -1", 0, "EOFError: EOF when reading a line\n"),
        ("pwd", 0, None),
        ("printf 'caf\\351 \\033[1mbold\\033[0m'", 0, "caf\ufffd bold"),
        ("echo 北京🌍", 0, "北京🌍\n"),
    ],
)
async def test_a_command_gives_its_code_and_its_output_and_no_stdin(
    workspace: LocalWorkspace, line: str, code: int, output: str | None
) -> None:
    completed = await run(workspace, line)
    assert completed.exit_code == code
    assert not completed.timed_out
    assert output is None or completed.output == output


async def test_a_command_runs_in_its_own_folder_whatever_the_process_has(tmp_path: Path) -> None:
    for name in ("My Proj (1)", "50% é"):
        (tmp_path / name).mkdir()
        workspace = LocalWorkspace(tmp_path / name)
        assert (await run(workspace, "pwd")).output == f"{tmp_path / name}\n"
        await workspace.aclose()


@pytest.mark.parametrize(
    "line",
    [
        "sleep 300 & echo up",
        f"{PYTHON} -m http.server 0 & echo up",
        "(trap '' TERM; sleep 300) & echo up; exit 0",
        f"{ESCAPED}; echo up",
    ],
)
async def test_a_command_returns_although_a_background_process_holds_its_output(
    workspace: LocalWorkspace, alive: Alive, line: str
) -> None:
    begun = monotonic()
    completed = await run(workspace, line)
    assert monotonic() - begun < 10
    assert completed.output.startswith("up\n")
    assert await comes_to_hold(lambda: alive() >= 1)
    begun = monotonic()
    await workspace.aclose()
    assert alive() == 0
    assert monotonic() - begun < 10


async def test_a_background_server_is_not_killed_by_writing_to_the_output_nobody_reads_any_more(
    workspace: LocalWorkspace,
) -> None:
    await run(workspace, "(sleep 0.5; for i in $(seq 20000); do echo log line; done; echo done > written) & exit 0")
    assert await comes_to_hold((workspace.cwd / "written").exists)


@pytest.mark.parametrize("line", ["sleep 300", STUBBORN, f"{ESCAPED}; sleep 300", f"{DAEMON}; sleep 300", "yes"])
async def test_a_timeout_ends_everything_and_keeps_what_was_written(
    workspace: LocalWorkspace, alive: Alive, line: str
) -> None:
    begun = monotonic()
    completed = await run(workspace, f"echo begun; {line}", timeout=0.5)
    assert monotonic() - begun < 10
    assert completed.timed_out
    assert completed.exit_code < 0
    assert completed.output.startswith("begun\n")
    assert alive() == 0


async def test_a_timed_out_command_may_clean_up_first(workspace: LocalWorkspace) -> None:
    completed = await run(workspace, "trap 'echo cleaned; exit' TERM; sleep 300 & wait", timeout=0.3)
    assert completed.output == "cleaned\n"


@pytest.mark.parametrize(
    "line", ["sleep 300", STUBBORN, f"{ESCAPED}; sleep 300", f"{DAEMON}; sleep 300", WITHOUT_TAG, "yes", "sleep 300 &"]
)
async def test_cancelling_leaves_nothing_on_the_machine(workspace: LocalWorkspace, alive: Alive, line: str) -> None:
    running = asyncio.create_task(run(workspace, line))
    assert await comes_to_hold(lambda: alive() >= 1)
    await asyncio.sleep(0.1)
    begun = monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert monotonic() - begun < 10
    assert alive() == 0


async def test_cancelling_ends_children_that_dropped_their_environment(workspace: LocalWorkspace) -> None:
    running = asyncio.create_task(run(workspace, "env -i setsid sleep 301.7 & env -i sleep 301.7 & sleep 301.7"))
    assert await comes_to_hold(lambda: sleepers("301.7") == 3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sleepers("301.7") == 0


@pytest.mark.parametrize("after", [0, 0.001, 0.003, 0.01])
async def test_cancelling_while_the_command_is_being_started_leaves_nothing(
    workspace: LocalWorkspace, alive: Alive, after: float
) -> None:
    running = asyncio.create_task(run(workspace, "setsid sleep 300 & sleep 300"))
    await asyncio.sleep(after)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive() == 0


@pytest.mark.parametrize("begun", [True, False])
async def test_cancelling_again_and_again_is_still_a_cancel_and_leaves_nothing(
    workspace: LocalWorkspace, alive: Alive, begun: bool
) -> None:
    running = asyncio.create_task(run(workspace, STUBBORN))
    assert not begun or await comes_to_hold(lambda: alive() >= 1)
    while not running.done():
        running.cancel()
        await asyncio.sleep(0)
    assert running.cancelled()
    assert alive() == 0


async def test_cancelling_one_command_leaves_another_alone(workspace: LocalWorkspace) -> None:
    first = asyncio.create_task(run(workspace, "sleep 300"))
    second = asyncio.create_task(run(workspace, "sleep 0.6; echo second"))
    await asyncio.sleep(0.2)
    first.cancel()
    assert (await second).output == "second\n"


async def test_closing_ends_a_command_that_runs_and_refuses_the_next(workspace: LocalWorkspace, alive: Alive) -> None:
    running = asyncio.create_task(run(workspace, STUBBORN))
    assert await comes_to_hold(lambda: alive() >= 1)
    await workspace.aclose()
    assert (await running).exit_code < 0
    assert alive() == 0
    with pytest.raises(ToolError, match="closed"):
        await run(workspace, "true")


@pytest.mark.parametrize("redirected", [">/dev/null 2>&1", ""], ids=["its output let go", "its output held"])
async def test_what_wiped_its_environment_ends_with_the_session_of_its_ended_command(
    workspace: LocalWorkspace, redirected: str
) -> None:
    left = int((await run(workspace, f"env -i sleep 300 {redirected} & echo $!")).output)
    await run(workspace, "true")
    assert await comes_to_hold(lambda: Path(f"/proc/{left}/environ").read_bytes() == b"")
    await workspace.aclose()
    assert await comes_to_hold(lambda: not lives(left))


async def test_killing_an_ended_background_command_ends_what_wiped_its_environment(workspace: LocalWorkspace) -> None:
    name = await workspace.start(Command("env -i sleep 300 >/dev/null 2>&1 & echo $!", workspace.cwd, 20))
    command = workspace.background[name]
    await command.wait(5)
    left = int(command.look().output)
    assert lives(left)
    await command.kill()
    assert await comes_to_hold(lambda: not lives(left))


def test_a_session_whose_first_process_lives_is_not_what_an_ended_command_left() -> None:
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as other:
        assert survivors.left_behind({other.pid}) == set()
        other.kill()


async def test_closing_one_session_leaves_the_background_of_another(tmp_path: Path, alive: Alive) -> None:
    one, other = LocalWorkspace(tmp_path), LocalWorkspace(tmp_path)
    for workspace in (one, other):
        await run(workspace, "sleep 300 >/dev/null 2>&1 &")
    await one.aclose()
    assert alive() == 1
    await other.aclose()
    assert alive() == 0


async def test_a_command_run_by_a_command_of_an_outer_agent_ends_with_the_outer_one(
    workspace: LocalWorkspace, alive: Alive, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = LocalWorkspace(workspace.cwd)
    tag = (await run(workspace, 'printf %s "$HERMES_ACP_RUN"')).output
    monkeypatch.setenv("HERMES_ACP_RUN", tag)
    await run(inner, "setsid sleep 300 >/dev/null 2>&1 &")
    await workspace.aclose()
    assert alive() == 0
    await inner.aclose()


@pytest.mark.slow
async def test_a_hundred_megabytes_of_output_cost_little_memory_and_keep_both_ends(tmp_path: Path) -> None:
    script = """
        import asyncio, resource, sys
        from pathlib import Path
        from hermes_acp.local.workspace import LocalWorkspace
        from hermes_acp.workspace import Command
        async def main():
            workspace = LocalWorkspace(Path(sys.argv[1]))
            await workspace.run(Command("true", workspace.cwd, 9), len)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            line = "echo first; yes | head -c 100000000; echo last"
            done = await workspace.run(Command(line, workspace.cwd, 60), len)
            assert done.output.startswith("first\\ny\\n") and done.output.endswith("y\\nlast\\n")
            assert "characters left out" in done.output and len(done.output) < 33_000
            print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
            await workspace.aclose()
        asyncio.run(main())
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(script), str(tmp_path), stdout=subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert int(output) <= 40


async def test_output_is_shown_while_the_command_runs(workspace: LocalWorkspace) -> None:
    shown: list[str] = []
    running = asyncio.create_task(workspace.run(Command("echo one; sleep 1; echo two", workspace.cwd, 9), shown.append))
    assert await comes_to_hold(lambda: shown == ["one\n"])
    await running
    assert shown == ["one\n", "one\ntwo\n"]


async def test_a_flood_of_output_does_not_hold_up_the_loop(workspace: LocalWorkspace) -> None:
    running = asyncio.create_task(run(workspace, "yes", timeout=1))
    longest, last = 0.0, monotonic()
    while not running.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, monotonic() - last), monotonic()
    assert longest < 0.9


async def test_children_inherit_no_descriptor_of_the_agent(workspace: LocalWorkspace) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    ours = os.readlink(f"/proc/self/fd/{write}")
    try:
        listed = (await run(workspace, "ls -l /proc/self/fd")).output
    finally:
        os.close(read)
        os.close(write)
    assert "0 -> /dev/null" in listed
    assert ours not in listed


async def test_a_folder_that_is_gone_is_named(workspace: LocalWorkspace, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="gone"):
        await workspace.run(Command("true", tmp_path / "gone", 5), lambda text: None)


async def test_a_command_too_long_for_the_system_is_refused_in_words(workspace: LocalWorkspace) -> None:
    with pytest.raises(ToolError, match="too long"):
        await run(workspace, "echo " + "x" * 200_000)


async def test_a_loop_that_ends_is_left_without_open_transports(tmp_path: Path) -> None:
    """Warnings are errors here: an unclosed transport would fail this test."""
    script = """
        import asyncio, gc, sys
        from pathlib import Path
        from hermes_acp.local.workspace import LocalWorkspace
        from hermes_acp.workspace import Command
        async def main():
            asyncio.get_running_loop().slow_callback_duration = 60
            workspace = LocalWorkspace(Path(sys.argv[1]))
            for line in ("true", "sleep 300 &", "echo x", "sleep 300 >/dev/null 2>&1 &"):
                await workspace.run(Command(line, workspace.cwd, 9), len)
            await workspace.aclose()
        asyncio.run(main())
        gc.collect()
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(script), str(tmp_path), stderr=subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")


def sleepers(seconds: str) -> int:
    wanted = [b"sleep", seconds.encode(), b""]
    return sum(command_line(entry) == wanted for entry in Path("/proc").iterdir() if entry.name.isdigit())


def command_line(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
