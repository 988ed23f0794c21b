"""What runs unasked is run: nothing is changed, nothing started, and nothing of what lies outside or is secret told."""

import hashlib
import os
import random
import shutil
import subprocess

import pytest

from hermes_acp.local.environment import search_path
from hermes_acp.tools.safety import special
from hermes_acp.tools.safety.git import SUBCOMMANDS
from hermes_acp.tools.safety.grammar import quoted
from hermes_acp.tools.safety.judged import Place
from hermes_acp.tools.safety.judging import judge
from hermes_acp.tools.safety.readers import READERS

pytestmark = pytest.mark.slow

SECRET = "SECRET-CANARY\n"
NEVER_ENDS = {"seq"}
FIND = sorted(special._FIND_ALONE | special._FIND_VALUE | special._FIND_PATH)
WORDS = [
    *(
        "a.txt",
        "src",
        "src/app.py",
        ".",
        "-",
        "--",
        "1",
        "5",
        "x",
        "CANARY",
        "pwn",
        "./pwn",
        "*.txt",
        "+5",
        "-5",
        "=",
        "!",
    ),
    *(
        "-exec",
        "-delete",
        "-o",
        "-f",
        "--output",
        "--pre",
        "--files0-from",
        "-fprint",
        "w",
        "e",
        "1p",
        "1,2p",
        "1e./pwn",
    ),
    *("HEAD", "(", ")"),
]
HOSTILE = ["../outside.txt", "{out}", ".env", "link", "src/../.env", "hard", ".ssh", "..", "HEAD:.env", "out.txt"]


@pytest.fixture
def world(tmp_path):
    """A workspace with secrets and ways out, a program in it that leaves a trace, and a place outside."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / ".ssh").mkdir()
    for name, text in (
        ("a.txt", "a\nb\n"),
        ("src/app.py", "x\n"),
        (".env", "SECRET-CANARY\n"),
        (".ssh/k", "SECRET-CANARY\n"),
    ):
        (work / name).write_text(text)
    (tmp_path / "outside.txt").write_text("OUTSIDE-CANARY\n")
    (work / "link").symlink_to("../outside.txt")
    (work / "pwn").write_text(f"#!/bin/sh\ntouch '{tmp_path}/pwned'\n")
    (work / "pwn").chmod(0o755)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for arguments in (["init", "-q"], ["add", "a.txt", "src"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=work, check=True, capture_output=True)
    return Place(work, (work,), search_path())


def fingerprint(folder):
    """Everything beneath a folder: names, kinds and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (path.lstat().st_mode, hashlib.sha256(content).hexdigest())
    return found


def options_of(name):
    if name == "find":
        return FIND
    if name in READERS:
        return list(READERS[name].options.known)
    return ["-n", "-e", "-i", "+%F", "-d", "-f", "-r", "-s"]


def command(chance, name, out):
    """A command of words that fit together more or less."""
    known = options_of(name) or ["-x"]
    words = [name, "-n", "1,2p"] if name == "sed" else [name]
    if name == "git":
        subcommand = chance.choice(sorted(SUBCOMMANDS))
        words += subcommand.split()
        known = list(SUBCOMMANDS[subcommand].options.known) or ["-x"]
    for _ in range(chance.randint(0, 4)):
        operand = chance.choice(HOSTILE if chance.random() < 0.3 else WORDS).format(out=out)
        option = chance.choice(known)
        words.append(chance.choice([operand, option, f"{option}{operand}", f"{option}={operand}", option]))
    return tuple(words)


@pytest.mark.parametrize("name", [*sorted(set(READERS) - NEVER_ENDS), "find", "sed", "date", "test", "git"])
def test_what_runs_unasked_changes_nothing_and_tells_nothing_secret(name, world, tmp_path):
    if not shutil.which(name) and name != "rg":
        return
    chance, out = random.Random(name), tmp_path / "outside.txt"
    before, ran = fingerprint(tmp_path), 0
    count = int(os.environ.get("HERMES_FUZZ_EXAMPLES", "0")) or (400 if name == "git" else 120)
    for _ in range(count):
        judged = judge(quoted(command(chance, name, out)), world)
        if judged.concern:
            continue
        ran += 1
        done = subprocess.run(
            ["bash", "-c", judged.line], cwd=world.cwd, capture_output=True, stdin=subprocess.DEVNULL, timeout=20
        )
        assert b"-CANARY" not in done.stdout + done.stderr, judged.written
    assert fingerprint(tmp_path) == before
    assert ran
