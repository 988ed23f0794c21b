"""`hermes-acp trajectories check`, run as a person runs it."""

import json
import os
import subprocess
import sys

import pytest

from hermes_acp.agent.trajectory import save_trajectory, to_sharegpt


def check(*arguments):
    command = [sys.executable, "-m", "hermes_acp", "trajectories", *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.jsonl"
    for answer in ("a", "b\u2028c"):
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}]
        save_trajectory(to_sharegpt(messages, None), "m", True, path)
    return path


def test_a_right_file_is_said_to_be_right(good):
    assert check("check", good) == (0, f"{good}: 2 entries, all right\n", "")


def test_each_fault_is_a_line_and_other_files_are_checked_all_the_same(good, tmp_path):
    bad = tmp_path / "bad.jsonl"
    entry = json.loads(good.read_bytes().split(b"\n")[0])
    entry["conversations"][2]["value"] = "no block"
    bad.write_bytes(good.read_bytes() + json.dumps(entry).encode() + b'\n{"conversations"')
    status, out, err = check("check", bad, tmp_path / "none.jsonl", tmp_path, good)
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        f"{bad}:3: conversations[2]: there is no <think> block",
        f"{bad}:4: the line is not ended: the file was cut off here",
        f"{tmp_path / 'none.jsonl'}: No such file or directory",
        f"{tmp_path}: Is a directory",
        f"{good}: 2 entries, all right",
    ]


def test_a_name_that_is_no_utf8_and_keys_that_forge_lines_are_written_as_one_line(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"a\\nb\\u001b[31m": 1}\n')
    command = [sys.executable, "-m", "hermes_acp", "trajectories", "check", path]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.count(b"\n") == 1
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    "arguments", [["check"], ["chek", "x"], ["check", "--all", "x"], ["check", "x", "--model", "m"]]
)
def test_arguments_that_mean_nothing_show_the_usage(arguments):
    status, out, err = check(*arguments)
    assert (status, out) == (2, "")
    assert "usage: python -m hermes_acp trajectories check FILE" in err


def test_help_is_on_stdout_and_no_arguments_are_none():
    assert check("--help")[:2] == (0, "usage: python -m hermes_acp trajectories check FILE…\n")
    assert check()[0] == 2
