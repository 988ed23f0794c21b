"""kill -9 around the write of a file: whatever the moment, undoing gives the first bytes back and asks nothing."""

import asyncio
import random
import subprocess
import sys
import time

import pytest

from tests.support.undoing import session, undo

SEED = 20261130
START = "first\n" * 3_000

WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
from hermes_acp.agent.store import journal as journals
from hermes_acp.local import writing
from hermes_acp.local.workspace import LocalWorkspace
from tests.support.undoing import begin, put, session

folder, database, moment = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def dying(function, before):
    def call(*args):
        die() if before else None
        function(*args)
        die()
    return call

async def main():
    async with session(folder, database) as (workspace, journal):
        print("ready", flush=True)
        for number in range(1, 100_000):
            await begin(journal)
            if number == 3 and moment == "before it is kept":
                journal.keep = die
            if number == 3 and moment == "before the write":
                writing.write = dying(writing.write, True)
            if number == 3 and moment == "after the write":
                writing.write = dying(writing.write, False)
            text = (folder / "a.txt").read_bytes() + b"turn %d\\n" % number
            await put(workspace, folder / "a.txt", text)
            await put(workspace, folder / f"made-{number}", text)

asyncio.run(main())
"""


async def undo_everything(folder, database):
    standings = []
    async with session(folder, database) as (workspace, journal):
        while (undone := await undo(workspace, journal)) is not None:
            standings += undone
    return standings


def writer(tmp_path, moment):
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project/a.txt").write_text(START)
    arguments = [str(tmp_path / "project"), str(tmp_path / "db/sessions.db"), moment]
    return subprocess.Popen([sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE)


def assert_undone(tmp_path):
    standings = asyncio.run(undo_everything(tmp_path / "project", tmp_path / "db/sessions.db"))
    assert set(standings) <= {"as_left", "as_before"}
    assert (tmp_path / "project/a.txt").read_text() == START
    assert [path.name for path in (tmp_path / "project").iterdir() if ".tmp" not in path.name] == ["a.txt"]
    return standings


@pytest.mark.parametrize(
    ("moment", "changes"),
    [
        ("before it is kept", ["as_left"] * 4),
        ("before the write", ["as_before", *["as_left"] * 4]),
        ("after the write", ["as_left"] * 5),
    ],
)
def test_at_each_step_of_a_write(tmp_path, moment, changes):
    process = writer(tmp_path, moment)
    process.communicate(timeout=60)
    assert process.returncode == -9
    assert assert_undone(tmp_path) == changes


@pytest.mark.slow
def test_at_any_moment(tmp_path):
    dice = random.Random(SEED)
    undone = 0
    for _ in range(15):
        process = writer(tmp_path, "any")
        assert process.stdout.readline() == b"ready\n"
        time.sleep(dice.uniform(0, 0.3))
        process.kill()
        process.communicate()
        undone += len(assert_undone(tmp_path))
    assert undone > 15
