"""Which command lines run unasked: those of which every part is known to only read, and no others."""

import os
import stat

import pytest

from hermes_acp.local.environment import search_path
from hermes_acp.tools.safety import options
from hermes_acp.tools.safety.judged import Place
from hermes_acp.tools.safety.judging import judge
from hermes_acp.tools.safety.readers import READERS
from tests.tools.safety.cases import COMMANDS

CANARY = "CANARY-5\n"


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("def main():\n    pass  # TODO\n")
    for name in ("README.md", "a.txt", "b.txt", ".env", ".env.example"):
        (folder / name).write_text(CANARY if name == ".env" else f"{name}\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    return Place(folder, (folder,), search_path())


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case["command"][:50])
def test_the_kept_commands_are_judged_as_they_are_known(case, place):
    judged = judge(case["command"], place)
    if case["read_only"]:
        assert not judged.concern
    elif case["dangerous"] and not case["debatable"]:
        assert judged.concern


@pytest.mark.parametrize(
    "line",
    [
        *("ls", "ls -la src", "ls --color=never src/", "pwd", "cat README.md a.txt", "cat -n src/app.py | head -n 20"),
        *("head -5 a.txt", "tail -n 3 a.txt", "wc -l src/app.py", "rg -n 'TODO|FIXME' src", 'grep -rn "def main" .'),
        *('grep -rn "def main" . && wc -l src/app.py', "grep -c x a.txt || true", "find . -name '*.py' -type f"),
        *("find src -maxdepth 2 -not -path '*/x/*' -print", "find . '(' -name a -o -name b ')' -size -5k"),
        *("sort -u a.txt | uniq -c", "cut -d: -f1 a.txt", "tr a-z A-Z", "diff -u a.txt b.txt", "cmp a.txt b.txt"),
        *("sed -n '1,20p' src/app.py", "sed -n 5p a.txt", "stat -c %s a.txt", "file a.txt", "du -sh .", "df -h ."),
        *("date +%F", "date -u", "which sh", "command -v sh", "md5sum a.txt", "sha256sum a.txt b.txt", "uname -a"),
        *("echo hi", "echo 'a; b' \"c\"", "printf '%s\\n' a b", "test -f a.txt && cat a.txt", "true", "basename /x/y"),
        *("cd src && ls", "cd src && cat app.py | wc -l", "cd src && cd .. && ls", "cat ./src/../a.txt", "ls ''"),
        *("cat .env.example", "cat /dev/null", "cat -", "nl -ba a.txt", "tree -L 2", "realpath src", "od -c a.txt"),
    ],
)
def test_what_only_reads_runs_unasked(line, place):
    judged = judge(line, place)
    assert "not installed" in judged.concern or not judged.concern


REACHING_OUT = [
    *("cat ../outside.txt", "cat /etc/hostname", "ls /", "ls ..", "head -c 5 /etc/passwd", "grep x ../outside.txt"),
    *("find / -name x", "find .. -type f", "rg x ..", "cat link", "cat linked/hostname", "diff a.txt ../outside.txt"),
    *("cat /proc/self/root/etc/hostname", "cat /proc/self/environ", "wc -l /dev/stdin", "grep -f ../outside.txt a.txt"),
    *("date -r ../outside.txt", "find . -newer ../outside.txt", "test -e /etc/hostname", "stat /", "du -s /usr"),
    *("cd .. && ls", "cd / && ls", "cd src && cat ../../outside.txt", "cd link && ls", "realpath /etc/hostname"),
]
SECRET = [
    *(
        "cat .env",
        "c''at .e''nv",
        "head -n1 ./.env",
        "grep KEY .env",
        "rg KEY .env",
        "wc .env",
        "cat -- .env",
        "ls .ssh",
    ),
    *("cat src/../.env", "cat secretlink", "sort .env", "base64 .env", "od -c .env", "cd .ssh && ls", "cat .ENV"),
]
EXECUTING = [
    *("find . -exec rm {} +", "find . -execdir x ';'", "find . -ok x ';'", "find . -delete", "find . -fprint a.txt"),
    *(
        "find . -fprintf a.txt x",
        "find . -fls a.txt",
        "find . -files0-from a.txt",
        "find -L . -name x",
        "find -H . -name x",
    ),
    *(
        "sort -o a.txt b.txt",
        "sort --output=a.txt b.txt",
        "sort -oa.txt b.txt",
        "sort --outp=a.txt b.txt",
        "sort -uo a.txt b",
    ),
    *(
        "sort --compress-program=./x a.txt",
        "sort --compress-prog ./x a.txt",
        "sort -T . a.txt",
        "sort --files0-from=a.txt",
    ),
    *("rg --pre ./x y .", "rg --pre=./x y", "rg --hostname-bin=./x y", "rg -z x", "rg --search-zip x", "rg -L x ."),
    *(
        "rg --ignore-file a.txt x",
        "grep -R x .",
        "grep --dereference-recursive x .",
        "grep -d recurse x .",
        "uniq a.txt b.txt",
    ),
    *(
        "sed -n '1e x' a.txt",
        "sed 's/a/b/w f' a.txt",
        "sed -i s/a/b/ a.txt",
        "sed -n '1w f' a.txt",
        "sed -n -i 1p a.txt",
    ),
    *(
        "sed -n 1p -i a.txt",
        "sed -n 1p --in-place a.txt",
        "sed -n '1,2p;w f' a.txt",
        "sed -e 1p a.txt",
        "sed -f a.txt b.txt",
    ),
    *(
        "date 010100002030",
        "date -s now",
        "date --set=now",
        "date -f a.txt",
        "hostname new",
        "tail -f a.txt",
        "tail -F a.txt",
    ),
    *(
        "diff -l a.txt b.txt",
        "diff --paginate a.txt b.txt",
        "diff -r . src",
        "diff . src",
        "diff --from-file=a.txt b.txt",
    ),
    *(
        "test -v 'b[$(x)0]'",
        "test 'x' -eq 'b[$(x)0]' -v y",
        "printf -v x y",
        "command ls",
        "command -p ls",
        "tree -o f",
    ),
    *("wc --files0-from=a.txt", "du --files0-from=a.txt", "file -m a.txt b.txt", "file -C -m a.txt", "file -f a.txt"),
    *("md5sum -c a.txt", "cat --unknown a.txt", "ls --hyperlinkx", "ls -la --", "xxd a.txt b.txt", "tac --sep"),
    *("tar xf a.tar", "tar cf /dev/null a.txt --checkpoint=1 --checkpoint-action=exec=x", "xargs rm", "awk 1 a.txt"),
    *(
        "env",
        "env ls",
        "nice ls",
        "timeout 5 ls",
        "nohup ls",
        "sudo ls",
        "sh -c ls",
        "bash a.txt",
        "python3 -c x",
        "node a.txt",
    ),
    *(
        "python3 --version a.txt",
        "node --version -e x",
        "perl -v",
        "cargo --version",
        "npm --version",
        "go version",
        "less a.txt",
    ),
    *(
        "vim a.txt",
        "man ls",
        "ssh host",
        "curl http://127.0.0.1",
        "tee a.txt",
        "cp a.txt b.txt",
        "mv a.txt b.txt",
        "touch x",
    ),
    *(
        "mkdir x",
        "rm a.txt",
        "ln -s a b",
        "chmod +x a.txt",
        "dd if=a.txt",
        "make",
        "npm test",
        "kill 1",
        "exit",
        "exec ls",
    ),
    *("eval ls", "source a.txt", ". a.txt", "export A=b", "alias a=b", "set -x", "unset PATH", "read x", "ulimit -c 0"),
    *("ls; touch x", "ls && touch x", "ls || touch x", "ls | touch x", "ls\ntouch x", "touch x; ls", "cat a.txt | sh"),
    *(
        "false && cd src; cat ../a.txt",
        "cd src; ls",
        "cd src | ls",
        "ls && cd src && ls",
        "cd",
        "cd -",
        "cd nowhere && ls",
    ),
    *("cd src || cd .. && ls", "cd -P src && ls", "./ls", "src/ls", "/tmp/ls", "bin/ls", "../ls", "LS", "Cat a.txt"),
]


@pytest.fixture
def traps(place):
    """Links that lead out, and places that look secret."""
    folder = place.cwd
    (folder / "link").symlink_to("../outside.txt")
    (folder / "linked").symlink_to("/etc")
    (folder / "secretlink").symlink_to(".env")
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "config").write_text("x")
    return place


@pytest.mark.parametrize("line", [*REACHING_OUT, *SECRET, *EXECUTING])
def test_what_may_do_more_asks(line, traps):
    if line == "ls -la --":
        assert not judge(line, traps).concern
        return
    assert judge(line, traps).concern


def test_a_search_through_folders_leaves_out_what_looks_secret(place):
    import subprocess

    lines = [
        "grep -rn CANARY .",
        "grep -r --include=.env CANARY .",
        "grep -rh CANARY --include='.e*'",
        "egrep -r CANARY .",
    ]
    lines += ["rg --hidden --no-ignore CANARY", "rg -uuu CANARY .", "rg --hidden -g .env CANARY", "rg -. -g '*' CANARY"]
    for line in lines:
        judged = judge(line, place)
        assert not judged.concern
        done = subprocess.run(["sh", "-c", judged.line], cwd=place.cwd, capture_output=True, stdin=subprocess.DEVNULL)
        assert b"CANARY" not in done.stdout


def make_program(path):
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\ntouch pwned\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("folder", ["{work}/bin", "bin", ".", ""])
def test_a_program_of_the_workspace_is_not_taken_for_the_systems(folder, place):
    make_program(place.cwd / "bin" / "ls")
    make_program(place.cwd / "ls")
    judged = judge("ls", Place(place.cwd, place.roots, f"{folder.format(work=place.cwd)}:{place.path}"))
    assert "own folders" in judged.concern


def test_a_link_on_path_that_leads_into_the_workspace_is_not_taken_either(place, tmp_path):
    make_program(place.cwd / "evil")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ls").symlink_to(place.cwd / "evil")
    assert judge("ls", Place(place.cwd, place.roots, f"{tmp_path / 'bin'}:{place.path}")).concern
    (tmp_path / "bins").symlink_to(place.cwd)
    make_program(place.cwd / "cat")
    assert judge("cat a.txt", Place(place.cwd, place.roots, f"{tmp_path / 'bins'}:{place.path}")).concern


@pytest.mark.parametrize("startup", [".startup", "./src/../.startup", "{work}/.startup", "../link"])
def test_a_file_of_the_workspace_that_every_shell_runs_first_makes_every_command_ask(startup, place):
    (place.cwd.parent / "link").symlink_to(place.cwd / ".startup")
    named = startup.format(work=place.cwd)
    assert judge("ls", Place(place.cwd, place.roots, place.path, named)).concern
    assert not judge("ls", Place(place.cwd, place.roots, place.path, "/etc/profile")).concern


def test_what_runs_is_the_program_that_was_found_when_it_was_judged(place):
    assert judge("ls  'src' ;", place).line == f"{which('ls')} src"
    assert judge("cd src && cat app.py", place).line == f"cd {place.cwd}/src && {which('cat')} app.py"
    assert judge("touch  'a b' ;", place).line == "touch 'a b'"
    assert judge("ls > x", place).line == "ls > x"


def which(name):
    return next(f"{folder}/{name}" for folder in search_path().split(":") if os.access(f"{folder}/{name}", os.X_OK))


def test_additional_folders_are_in_reach_and_their_secrets_are_not(place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("x")
    (other / ".env").write_text("x")
    both = Place(place.cwd, (place.cwd, other), place.path)
    assert judge("cat ../other/x.txt", place).concern
    assert not judge("cat ../other/x.txt", both).concern
    assert judge("cat ../other/.env", both).concern


def test_judging_a_command_takes_less_than_a_millisecond(place):
    import time

    lines = [case["command"] for case in COMMANDS]
    judge("rg x", place)
    best = min(_seconds(lines, place, time.process_time) for _ in range(3))
    assert best / len(lines) < 0.001


def _seconds(lines, place, clock):
    began = clock()
    for line in lines:
        judge(line, place)
    return clock() - began


def takes_no_paths(name):
    return READERS[name].operands in (options.texts, options.none)


@pytest.mark.parametrize("name", READERS)
def test_no_reading_program_reads_outside_or_what_looks_secret(name, place):
    """By an operand, by an option, behind `--`, and whatever stands before."""
    for path in ("/etc/passwd", "../outside.txt", ".env", "src/../.env"):
        for line in (f"{name} {path}", f"{name} x {path}", f"{name} -- {path}", f"{name} -- x {path}"):
            given = judge(line, place)
            searched_for = READERS[name].operands is options.pattern_and_paths and " x " not in line
            assert given.concern or takes_no_paths(name) or searched_for, line
        for option, taking in READERS[name].options.known.items():
            if taking == "path":
                for given in (f" {path}", f"={path}", path):
                    line = f"{name} {option}{given} a.txt"
                    assert judge(line, place).concern, line


UNKNOWN = ("--exec=x", "--outfile=x", "--pre=x", "--config=x", "--files0-from=a.txt", "--compress-program=x", "-o=x")


@pytest.mark.parametrize("name", [*READERS, "find", "date", "sed", "git", "test", "pwd", "cd"])
def test_no_option_that_is_unknown_or_cut_short_passes(name, place):
    for option in UNKNOWN:
        assert judge(f"{name} {option} a.txt", place).concern, option
    known = READERS[name].options.known if name in READERS else {}
    for option, taking in known.items():
        if option.startswith("--") and len(option) > 6 and option[:-1] not in known and taking == "nothing":
            assert judge(f"{name} {option[:-1]} a.txt", place).concern, option
