"""After `kill -9` nothing that our commands started is left, and the guardian itself is gone."""

from __future__ import annotations

import os
import random
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_acp.local.environment import RUN, for_command
from hermes_acp.local.guardian import Guardian
from tests.support.processes import guardians_of, lives, until

LIMIT = 2.0
"""Seconds after which nothing may be left."""

AGENT = """
import asyncio, sys
from pathlib import Path
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Command

async def main():
    workspace = LocalWorkspace(Path.cwd())
    running = [workspace.run(Command(line, workspace.cwd, 600), lambda text: None) for line in sys.argv[1:]]
    for done in asyncio.as_completed(running):
        await done
        print("ended", flush=True)
    print("idle", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""

SLEEP = "sleep 300.SEED"
PYTHON = shlex.quote(sys.executable)
DAEMON = f"""{PYTHON} -c 'import os, signal
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.execvp("sleep", ["sleep", "300.SEED"])' >/dev/null 2>&1"""
FORKING = f"while :; do {SLEEP} & sleep 0.005; done"

Start = Callable[..., "subprocess.Popen[bytes]"]


def command_line(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""


def running_with(word: str) -> list[int]:
    """All processes of the machine with this word in their command line, but for the agent that was given it."""
    found = ((int(pid), command_line(pid)) for pid in os.listdir("/proc") if pid.isdigit())
    return [pid for pid, line in found if word.encode() in line and b"LocalWorkspace" not in line]


@pytest.fixture
def seed() -> Iterator[str]:
    """A number that only the commands of this test have in their command lines."""
    seed = str(random.randrange(10**11, 10**12))
    yield seed
    for pid in running_with(seed):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def start(tmp_path: Path, seed: str) -> Iterator[Start]:
    """Start an agent that runs these commands at once."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*lines: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", AGENT, *(line.replace("SEED", seed) for line in lines)]
        agent = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.kill()
        agent.communicate()


def guarding(agent: subprocess.Popen[bytes]) -> list[int]:
    """The agent's guardians; its shell takes a moment to become one."""
    assert until(lambda: bool(guardians_of(agent.pid)))
    return guardians_of(agent.pid)


def assert_nothing_left(agent: subprocess.Popen[bytes], guardians: list[int], seed: str) -> None:
    agent.wait()
    died = time.monotonic()
    assert until(lambda: not running_with(seed), LIMIT), [command_line(str(pid)) for pid in running_with(seed)]
    assert until(lambda: not any(map(lives, guardians)), LIMIT)
    assert time.monotonic() - died < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "processes"),
    [
        (SLEEP, 1),
        (f"(trap '' TERM INT HUP; {SLEEP}; {SLEEP})", 1),
        (f"setsid {SLEEP} & {SLEEP}", 2),
        (f"env -i {SLEEP}", 1),
        (f"env -i {SLEEP} & setsid env -i {SLEEP} & {SLEEP}", 3),
        (f"{DAEMON}; {SLEEP}", 2),
        (FORKING, 20),
    ],
    ids=["plain", "ignores signals", "new session", "no environment", "children without it", "daemon", "forks on"],
)
def test_a_killed_agent_leaves_no_process(start: Start, seed: str, line: str, processes: int) -> None:
    agent = start(line)
    assert until(lambda: len(running_with(seed)) >= processes)
    time.sleep(0.1)  # A process that has lost its environment is known by what the agent tells of it.
    guardians = guarding(agent)
    assert len(guardians) == 1
    agent.kill()
    assert_nothing_left(agent, guardians, seed)


@pytest.mark.parametrize(
    "line",
    [
        f"{SLEEP} & exit",
        f"setsid {SLEEP} >/dev/null 2>&1 & exit",
        f"env -i {SLEEP} >/dev/null 2>&1 & exit",
        DAEMON,
    ],
)
def test_what_a_command_left_in_the_background_ends_with_a_killed_agent(start: Start, seed: str, line: str) -> None:
    agent = start(line)
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"ended\n"
    assert until(lambda: bool(running_with(seed)))
    guardians = guarding(agent)
    agent.kill()
    assert_nothing_left(agent, guardians, seed)


def test_a_killed_agent_leaves_nothing_of_many_commands(start: Start, seed: str) -> None:
    agent = start(SLEEP, f"setsid {SLEEP} & {SLEEP}", f"{DAEMON}; {SLEEP}", f"(trap '' TERM INT HUP; {SLEEP}; {SLEEP})")
    assert until(lambda: len(running_with(seed)) >= 6)
    guardians = guarding(agent)
    agent.kill()
    assert_nothing_left(agent, guardians, seed)


@pytest.mark.slow
def test_one_guardian_serves_all_commands_and_outlives_a_kill_of_the_group(start: Start, seed: str) -> None:
    agent = start(*[SLEEP] * 12)
    assert until(lambda: len(running_with(seed)) == 12)
    [guardian] = guarding(agent)
    assert os.getsid(guardian) not in {os.getsid(agent.pid), *map(os.getsid, running_with(seed))}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        os.kill(guardian, number)
    agent.kill()
    assert_nothing_left(agent, [guardian], seed)


def test_a_guardian_holds_nothing_of_the_agent_and_has_no_name_of_ours(start: Start, seed: str) -> None:
    agent = start(SLEEP)
    assert until(lambda: bool(running_with(seed)))
    [guardian] = guarding(agent)
    outputs = {os.readlink(f"/proc/{guardian}/fd/{number}") for number in (1, 2)}
    assert outputs == {os.devnull}
    assert sorted(os.listdir(f"/proc/{guardian}/fd")) == ["0", "1", "2"]
    assert os.readlink(f"/proc/{guardian}/cwd") == "/"
    assert b"hermes" not in command_line(str(guardian)).replace(b"hermes_acp.local import survivors", b"")
    assert Path("/proc", str(guardian), "environ").read_bytes() == b""


@pytest.mark.slow
def test_a_guardian_that_was_killed_is_replaced_with_the_next_command(start: Start, seed: str) -> None:
    agent = start(f"sleep 0.3 & {SLEEP}", f"sleep 0.5; {SLEEP}", "sleep 1")
    assert until(lambda: bool(running_with(seed)))
    [first] = guarding(agent)
    os.kill(first, signal.SIGKILL)
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"ended\n"
    [second] = guardians_of(agent.pid)
    assert second != first
    agent.kill()
    assert_nothing_left(agent, [second], seed)


def test_an_agent_without_commands_has_no_guardian(start: Start) -> None:
    agent = start()
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"idle\n"
    assert guardians_of(agent.pid) == []


def test_a_forked_process_is_guarded_by_itself_and_does_not_prolong_its_parents_life() -> None:
    guardian = Guardian()
    guardian.watch()
    tag, pipe = guardian.tag, guardian._pipe
    assert pipe is not None
    guardian.begin_anew()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pipe)
    assert guardian.tag != tag


def test_the_tags_of_an_agent_that_started_us_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = secrets.token_hex(12)
    monkeypatch.setenv(RUN.decode(), outer)
    assert for_command("inner")[RUN].split()[0] == outer.encode()
    assert for_command("inner")[RUN].split()[-1] == b"inner"
