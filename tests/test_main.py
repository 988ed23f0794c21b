"""Which arguments ask for the wire, and which for words."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp.__main__ import speaks_acp
from tests.support.editor import agent_env


@pytest.mark.parametrize(
    "argv",
    [
        ["--stdio"],
        ["--stdio", "--log-level", "debug"],
        ["--log-file", "/tmp/setup", "--stdio"],
        ["--model", "demo", "--stdio"],
        ["--stdio", "--model=x"],
        ["--log-file=/tmp/a", "--stdio"],
    ],
)
def test_options_alone_ask_for_the_wire(argv: list[str]) -> None:
    assert speaks_acp(argv)


@pytest.mark.parametrize(
    "argv",
    [
        ["--stdio", "setup"],
        ["setup", "--stdio"],
        ["--stdio", "--log-level", "debug", "setup"],
        ["--stdio", "--help"],
        ["--stdio", "--version"],
        ["--version"],
        ["--help"],
        ["chat", "-q", "hello"],
        ["demo"],
    ],
)
def test_a_command_word_asks_for_that_command(argv: list[str]) -> None:
    assert not speaks_acp(argv)


def test_no_arguments_and_a_pipe_ask_for_the_wire() -> None:
    program = "import sys; from hermes_acp.__main__ import speaks_acp; sys.exit(7 if speaks_acp([]) else 8)"
    env = agent_env(Path("/nonexistent"))
    piped = subprocess.run([sys.executable, "-c", program], stdin=subprocess.PIPE, env=env)
    ours, theirs = pty.openpty()
    typed = subprocess.run([sys.executable, "-c", program], stdin=theirs, env=env)
    os.close(ours)
    os.close(theirs)
    assert (piped.returncode, typed.returncode) == (7, 8)


def test_the_wire_on_a_terminal_tells_the_person_what_it_waits_for() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hermes_acp", "--stdio"]
    env = agent_env(Path("/nonexistent"))
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        os.close(theirs)
        assert process.stderr is not None
        said = process.stderr.readline()
        os.write(ours, b"\x04")
        written, _ = process.communicate(timeout=20)
    os.close(ours)
    assert b"waiting for an editor" in said
    assert (process.returncode, written) == (0, b"")
