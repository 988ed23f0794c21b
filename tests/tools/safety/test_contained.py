"""What runs unasked behind walls: of the harmless commands nearly all, of the dangerous ones none."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from hermes_acp.local import paths
from hermes_acp.tools.safety.contained import contain
from hermes_acp.tools.safety.judged import Place
from hermes_acp.tools.safety.judging import judge

_FILE = Path(__file__).parents[2] / "data" / "commands.jsonl"
ROWS = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
NEED_THE_NETWORK = {row["command"] for row in ROWS if row["command"].startswith("curl ")}
WRITE_TO_THE_REPOSITORY = {"git checkout -b new-branch", "git reset --soft HEAD~1", "git stash"}


@pytest.fixture
def place(tmp_path):
    folder = paths.real(tmp_path / "ws")
    folder.mkdir()
    return Place(folder, (folder,), os.environ.get("PATH", ""))


def asked(line, place):
    return contain(line, judge(line, place), place).concern


@pytest.mark.parametrize("row", [row for row in ROWS if row["dangerous"] and not row["debatable"]], ids=str)
def test_a_dangerous_command_asks(row, place):
    assert asked(row["command"], place)


def test_harmless_commands_run_except_those_named_here(place):
    harmless = [row["command"] for row in ROWS if not row["dangerous"] and not row["debatable"]]
    asking = {line for line in harmless if asked(line, place)}
    assert asking == {line for line in harmless if line in NEED_THE_NETWORK | WRITE_TO_THE_REPOSITORY}
    assert len(asking - NEED_THE_NETWORK) <= 0.1 * len(harmless)


@pytest.mark.parametrize(
    "line",
    [
        "mv .git .git2",
        "printf x > .git/hooks/pre-commit",
        "echo x > sub/../.git/config",
        "echo x > ../out",
        "cp a /etc/x",
        "cat < /etc/passwd",
        "ls; cd ..; rm x",
        "cd .. && touch x",
        "tar -C/etc -cf x.tar .",
        "make --directory=/etc",
        "cp x .env",
        "cat .en? > x",
        "python3 -c 'x'",
        "python3 < x.py",
        "echo x | python3",
        "sh < x",
        "node -pe 1",
        "find . -delete",
        "awk '{print > \"x\"}' a",
        "xargs rm < list",
        "cat <<EOF > x\n$(pwn)\nEOF",
        "cat <<'EOF' > x\na\nEOF\npwn",
        "npm install x",
        "rm *",
        "ln -s . d && rm -rf d/*",
        "mv src d; rm -rf d",
        "rm -rf ./*",
        "./../x",
        "a=1 b",
        "echo ${x}",
        "(ls)",
    ],
)
def test_what_reaches_out_or_cannot_be_judged_asks(line, place):
    (place.cwd / ".env").write_text("S=1")
    assert asked(line, place)


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q 2>&1 | tail -5",
        "python3 -m pytest -q 2>&1 | tail -5",
        "make -j4 && ./build/app --check > out.log 2>&1",
        "npm test",
        "cargo build --release",
        "sed -i 's/a/b/' src/*.py",
        "cat <<'EOF' > x\n$(pwn)\nEOF",
        "mkdir -p a/b && cp x a/b/ && touch a/b/c",
        "cd . && make",
    ],
)
def test_daily_work_runs(line, place):
    assert asked(line, place) == ""


def test_what_runs_gives_each_program_the_words_that_were_judged(place):
    for line in ("echo 'a b' x*y \"c'd\" 2>&1 | cat > 'o ut'", "cat <<'EOF' > n\na $b\nEOF", "sleep 0 &"):
        contained = contain(line, judge(line, place), place)
        assert contained.concern == ""
        runs = [
            subprocess.run(["bash", "-c", each], cwd=place.cwd, capture_output=True) for each in (line, contained.line)
        ]
        assert runs[0].stdout == runs[1].stdout


def test_deleting_what_git_does_not_have_asks(place):
    subprocess.run(["git", "init", "-q"], cwd=place.cwd, check=True)
    (place.cwd / ".gitignore").write_text("build/\n")
    (place.cwd / "build").mkdir()
    for name in ("tracked", "untracked", "build/out"):
        (place.cwd / name).write_text("x")
    subprocess.run(["git", "add", "tracked", ".gitignore"], cwd=place.cwd, check=True)
    assert asked("rm -rf build", place) == ""
    assert asked("rm tracked", place) == ""
    assert "lost" in asked("rm untracked", place)
    assert "lost" in asked("rm -f un*", place)
    assert asked("rm -rf nothing", place) == ""
