"""The demo as a person sees it: the command, in a pipe and in a terminal, with the real agent."""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_acp.demo.editor import agent_environment

COMMAND = [sys.executable, "-m", "hermes_acp", "demo"]
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def environment(temporary: Path, **more: str) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(temporary), "TMPDIR": str(temporary), "LANG": "C.UTF-8", **more}


def run_demo(temporary: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(temporary, **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_in_a_pipe_the_sample_is_repaired_without_colour_or_questions_and_nothing_is_left(tmp_path: Path) -> None:
    result = run_demo(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    said = result.stdout.index("I am a set of rules, not a model")
    question = result.stdout.index("● python -B -m unittest")
    answered = result.stdout.index("→ Allow once (answered by the demo: nobody was asked)")
    edited = result.stdout.index("  +        if self.total() >= FREE_DELIVERY_FROM:")
    assert said < question < answered < edited < result.stdout.index("✓ The tests pass.")
    assert "\x1b" not in result.stdout
    assert list(tmp_path.glob("hermes-acp-demo-*")) == []


@pytest.mark.parametrize("lines", [0, 3, 30])
def test_a_reader_that_has_seen_enough_ends_the_demo_and_nothing_is_left(tmp_path: Path, lines: int) -> None:
    with subprocess.Popen(
        [*COMMAND, "--yes"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 1
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert list(tmp_path.glob("hermes-acp-demo-*")) == []


@pytest.mark.slow
def test_a_copy_that_is_kept_holds_the_repair(tmp_path: Path) -> None:
    result = run_demo(tmp_path, "--keep")
    (folder,) = tmp_path.glob("hermes-acp-demo-*")
    assert f"The copy is kept in {folder / 'till'}" in result.stdout
    assert ">= FREE_DELIVERY_FROM" in (folder / "till" / "till" / "basket.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_model_that_cannot_be_reached_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    result = run_demo(tmp_path, "--provider", "no-such-provider", "--model", "m")
    assert result.returncode == 1
    assert "no-such-provider" in result.stdout
    assert "✗ The agent could not do its work." in result.stdout
    assert "The tests fail" not in result.stdout
    assert "Traceback" not in result.stdout


class Terminal:
    """The keyboard and the screen of a demo that runs in a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.screen = ""

    def wait_for(self, words: str, times: int = 1) -> None:
        """Read the screen until it shows something so many times."""
        deadline = time.monotonic() + 30
        while self.plain.count(words) < times and time.monotonic() < deadline:
            if not self._read(deadline - time.monotonic()):
                break
        assert self.plain.count(words) >= times, self.plain

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def end(self) -> int:
        """Read what is left, and wait for the end; the exit status."""
        while self._read(30):
            pass
        return self.process.wait(timeout=30)

    @property
    def plain(self) -> str:
        return ESCAPE.sub("", self.screen)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False
        self.screen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def terminal(temporary: Path, **more: str) -> Iterator[Terminal]:
    """A demo with a terminal of its own, which sends it a signal when Ctrl-C is typed."""
    descriptor, end = pty.openpty()
    start = [sys.executable, "-c", TAKE_TERMINAL, *COMMAND]
    process = subprocess.Popen(
        start, env=environment(temporary, **more), stdin=end, stdout=end, stderr=end, start_new_session=True
    )
    os.close(end)
    try:
        yield Terminal(process, descriptor)
    finally:
        process.kill()
        process.wait()
        os.close(descriptor)


@pytest.mark.slow
def test_a_person_is_asked_and_sees_colours(tmp_path: Path) -> None:
    with terminal(tmp_path) as demo:
        for question in (1, 2, 3, 4):
            demo.wait_for("Enter for 1: ", question)
            demo.type("1\n")
        assert demo.end() == 0
        assert "\x1b[32m✓ The tests pass.\x1b[0m" in demo.screen


@pytest.mark.slow
def test_no_color_is_respected(tmp_path: Path) -> None:
    with terminal(tmp_path, NO_COLOR="1") as demo:
        demo.wait_for("Enter for 1: ")
        demo.type("3\n")
        assert demo.end() == 1
        assert "\x1b" not in demo.screen
        assert "I stop here" in demo.screen


def test_ctrl_c_at_a_question_cancels_the_turn_and_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path) as demo:
        demo.wait_for("Enter for 1: ")
        demo.type("\x03")
        assert demo.end() == 130
        assert "The turn ended early: cancelled." in demo.screen
        assert "✗ The tests fail." in demo.screen
    assert list(tmp_path.glob("hermes-acp-demo-*")) == []


def options(**given: str) -> argparse.Namespace:
    return argparse.Namespace(**{"provider": "", "model": "", "base_url": "", **given})


def test_the_rules_answer_unless_a_model_is_named(tmp_path: Path) -> None:
    alone = agent_environment(options(), {"PATH": "/bin"}, tmp_path)
    assert alone["HERMES_ACP_PROVIDER"] == "demo"
    assert alone["HERMES_ACP_HOME"] == str(tmp_path)
    assert alone["PATH"].split(os.pathsep)[1:] == ["/bin"]
    named = agent_environment(options(model="m", base_url="http://localhost:1/v1"), {}, tmp_path)
    assert "HERMES_ACP_PROVIDER" not in named
    assert named["HERMES_ACP_MODEL"] == "m"


@pytest.mark.parametrize("name", ["HERMES_ACP_PROVIDER", "HERMES_ACP_MODEL", "HERMES_ACP_BASE_URL", "OPENAI_API_KEY"])
def test_the_environment_can_name_a_model(tmp_path: Path, name: str) -> None:
    environment = agent_environment(options(), {name: "x"}, tmp_path)
    assert environment.get("HERMES_ACP_PROVIDER", "") != "demo"
    rules = agent_environment(options(provider="demo"), {name: "x"}, tmp_path)
    assert rules["HERMES_ACP_PROVIDER"] == "demo"
