"""A program that writes the key: what is taken of it, and that nothing of it is left."""

import asyncio
import os
import sys
import time

import pytest

from hermes_acp.errors import HermesError
from hermes_acp.settings.key_command import MAX_KEY, key_of_command
from tests.support.processes import lives

KEY = "sk-from-a-program-0123456789"


def program(tmp_path, text):
    file = tmp_path / "helper"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return [str(file)]


async def refusal(command, **more):
    with pytest.raises(HermesError) as caught:
        await key_of_command(command, **more)
    line = str(caught.value)
    assert line.startswith("credentials.command: ")
    assert "\n" not in line
    return line


async def until_there(path):
    while not (path.exists() and path.read_text().strip()):
        await asyncio.sleep(0.005)
    return int(path.read_text())


@pytest.mark.parametrize(
    "text", [f"echo {KEY}", f"printf {KEY}", f"echo ' {KEY} '; echo more", f"printf '{KEY}\\r\\n'"]
)
async def test_the_first_line_is_the_key(tmp_path, text):
    assert await key_of_command(program(tmp_path, text)) == KEY


async def test_no_shell_reads_the_command_and_its_arguments_arrive_as_they_are(tmp_path):
    helper = program(tmp_path, 'printf %s "$1"')
    assert await key_of_command([*helper, "$(touch x);*"]) == "$(touch x);*"


async def test_it_sees_the_environment_and_nothing_on_its_input(tmp_path, monkeypatch):
    monkeypatch.setenv("VAULT_TOKEN", "token-of-the-vault")
    assert await key_of_command(program(tmp_path, 'cat; echo "$VAULT_TOKEN"')) == "token-of-the-vault"
    descriptors = await key_of_command([sys.executable, "-c", "import os; print(len(os.listdir('/proc/self/fd')))"])
    assert int(descriptors) <= 4


async def test_its_program_is_found_on_the_path(tmp_path, monkeypatch):
    program(tmp_path, f"echo {KEY}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert await key_of_command(["helper"]) == KEY


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"echo {KEY}; echo {KEY} >&2; exit 3", "helper ended with the status 3."),
        ("exit 0", "the first line that helper writes is no key."),
        (f"echo; echo {KEY}", "is no key."),
        ("printf 'schl\\303\\274ssel'", "is no key."),
        (f"head -c {MAX_KEY * 64} /dev/zero | tr '\\0' k", "is no key."),
        ("kill -9 $$", "helper ended with the status -9."),
    ],
)
async def test_what_gives_no_key_is_told_in_one_line_without_what_it_wrote(tmp_path, text, reason):
    line = await refusal(program(tmp_path, text))
    assert line.endswith(reason)
    assert KEY not in line


async def test_a_program_that_does_not_exist_or_is_none(tmp_path):
    assert "there is no program 'no-such-program'" in await refusal(["no-such-program"])
    (tmp_path / "helper").write_text("no program")
    (tmp_path / "helper").chmod(0o755)
    assert "cannot be started" in await refusal([str(tmp_path / "helper")])


async def test_one_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    pids = tmp_path / "pids"
    helper = program(tmp_path, f"setsid sleep 60 & echo $! > {pids}; sleep 60")
    assert "has given no key in 0.3 seconds" in await refusal(helper, seconds=0.3)
    assert not lives(int(pids.read_text()))


async def test_a_cancel_ends_it_at_once_and_leaves_no_process(tmp_path):
    pids = tmp_path / "pids"
    task = asyncio.create_task(key_of_command(program(tmp_path, f"setsid sleep 60 & echo $! > {pids}; sleep 60")))
    pid = await until_there(pids)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 5
    assert not lives(pid)


async def test_what_a_password_manager_leaves_running_stays(tmp_path):
    pids = tmp_path / "pids"
    helper = program(tmp_path, f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {pids}; echo {KEY}")
    assert await key_of_command(helper) == KEY
    pid = int(pids.read_text())
    assert lives(pid)
    os.kill(pid, 9)
