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
        "make -f /dev/stdin",
        "make -f- all",
        "make --eval='x: ; rm y'",
        "make CC='rm x;'",
        "make SHELL=./app.py",
        "tar cf x.tar --checkpoint-action=exec=x .",
        "tar -cIx -f x.tar .",
        "tar cIf x x.tar .",
        "tar xf x.tar --to-com=x",
        "split --filter=x a",
        "sort --compress-prog=x a",
        "go test -exec x ./...",
        "cargo build --config x",
        "cmake -E rm x",
        "gcc -wrapper x a.c",
        "npm run test --script-shell=./app.py",
        "zip -m x.zip f",
        "m4 x",
        "bc x",
        "/usr/bin/time rm x",
        "python3 -W a -W b -W c -c 'x'",
        "python3 -Wa -ic x",
        "python3 -i app.py",
        "python3 -m timeit x",
        "python3 -m pip install x",
        "echo x | python3 /dev/stdin",
        "echo x | sh /dev/stdin",
        "deno eval x",
        "node --import data:x app.py",
        "perl -Mx app.py",
        "ruby -W -rx app.py",
        "awk 'BEGIN { @f(\"x\") }'",
        "sed -n '1e rm x' a",
        "sed 's/x/y/e' a",
        "sed 'w x' a",
        "sed -f x a",
        "sed -n 's/x/y/w z' a",
        "grep -f.env x",
        "sort -o.env x",
        "cp -t.git x",
        "find . -fprint0 x",
        "cd sub && true & rm a",
        "find *",
        "a=1 b",
        "echo ${x}",
        "(ls)",
    ],
)
def test_what_reaches_out_or_cannot_be_judged_asks(line, place):
    (place.cwd / ".env").write_text("S=1")
    (place.cwd / "sub").mkdir()
    for name in ("app.py", "-delete", "f"):
        (place.cwd / name).write_text("x")
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
        "python3 -u -W error app.py --all -c x",
        "node --test app.py",
        "sh app.py",
        "sed -n '2,$p' a | head -3; sed -i -e 's,a,b,g' -e '2d' a",
        "git log --oneline > log.txt",
        "wc -l *.py",
        "make -j4 CC=clang PREFIX=build/x all",
        "tar czf x.tgz app.py LICENSE && tar -xzf x.tgz",
        "go test ./... -run Exec",
        "gcc -O2 -o x a.c",
    ],
)
def test_daily_work_runs(line, place):
    subprocess.run(["git", "init", "-q"], cwd=place.cwd, check=True)
    (place.cwd / "app.py").write_text("x")
    assert asked(line, place) == ""


def test_a_search_leaves_secrets_out_also_where_its_output_goes_into_a_file(place):
    """Behind walls the folder's own `.env` is there, since programs need it."""
    (place.cwd / ".env").write_text("S=canary")
    (place.cwd / "a").write_text("S=plain")
    for line in ("grep -r S= . > found", "grep -r S= . | tee found", "grep -r S= . 2>&1; true > x"):
        contained = contain(line, judge(line, place), place)
        assert contained.concern == ""
        done = subprocess.run(["bash", "-c", contained.line], cwd=place.cwd, capture_output=True, text=True)
        told = done.stdout + (place.cwd / "found").read_text()
        assert "plain" in told
        assert "canary" not in told


def test_a_name_that_is_an_option_becomes_none_when_it_is_made_in_the_same_line(place):
    (place.cwd / "precious").write_text("x")
    line = "touch -- -delete; find *"
    subprocess.run(["bash", "-c", contain(line, judge(line, place), place).line], cwd=place.cwd, capture_output=True)
    assert (place.cwd / "precious").exists()


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


def test_a_rule_that_git_does_not_have_makes_nothing_fit_to_be_deleted(place):
    """A model could write it first, and delete with the next command: above what is deleted, or in it."""
    _committed(place.cwd, {".gitignore": "build/\n", "a": "x"})
    (place.cwd / "build").mkdir()
    (place.cwd / "notes").mkdir()
    for name in ("build/out", "notes/precious"):
        (place.cwd / name).write_text("x")
    assert asked("rm -rf build", place) == ""
    (place.cwd / "notes" / ".gitignore").write_text("*\n")
    assert "lost" in asked("rm -rf notes", place)
    assert "lost" in asked("rm notes/precious", place)
    (place.cwd / ".gitignore").write_text("build/\nnotes/\n")
    assert "lost" in asked("rm -rf notes", place)
    (place.cwd / ".gitignore").write_text("build/\n")
    assert asked("rm -rf build", place) == ""


def test_a_repository_within_the_folder_is_not_deleted_unasked(place):
    """Its own files are no files of the repository around it."""
    _committed(place.cwd, {"a": "x", ".gitignore": "kept/\n"})
    _committed(place.cwd / "kept", {"b": "x"})
    _committed(place.cwd / "deep" / "module", {"b": "x"})
    for line in ("rm -rf kept", "rm -rf deep", "rm -rf deep/module"):
        assert "repository" in asked(line, place)


def test_a_name_behind_two_dashes_is_no_option(place):
    _committed(place.cwd, {"a": "x"})
    (place.cwd / "-precious").write_text("x")
    assert "lost" in asked("rm -f -- -precious", place)
    assert asked("rm -f -- a", place) == ""


def _committed(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    who = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["git", "init", "-q"], ["git", "add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(words, cwd=folder, check=True)
