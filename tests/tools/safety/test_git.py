"""Git runs unasked only as far as it reads, and only where the repository cannot make it run anything."""

import os
import shutil
import subprocess

import pytest

from hermes_acp.local.environment import search_path
from hermes_acp.tools.safety.judged import Place
from hermes_acp.tools.safety.judging import judge


def git(folder, *arguments):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with two commits, a tag and a change."""
    folder = tmp_path_factory.mktemp("made") / "work"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for text in ("one\n", "two\n"):
        (folder / "a.txt").write_text(text)
        (folder / "sub" / "b.txt").write_text(text)
        (folder / ".env").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", text)
    git(folder, "tag", "v1")
    (folder / "a.txt").write_text("three\n")
    return Place(folder, (folder,), search_path())


@pytest.fixture
def place(made, tmp_path):
    """A copy of it, to be changed."""
    folder = tmp_path / "work"
    shutil.copytree(made.cwd, folder)
    return Place(folder, (folder,), search_path())


def run(line, folder, **more):
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
    )


READING = [
    *(
        "status",
        "status --short",
        "status -sb --porcelain=v2",
        "log",
        "log --oneline -5",
        "log -1 --stat",
        "log -p -- a.txt",
    ),
    *("log --format=%H -n 1", "log --since=yesterday --author x", "diff", "diff HEAD~1", "diff HEAD~1 HEAD -- a.txt"),
    *(
        "diff --cached --name-only",
        "diff main..HEAD",
        "show",
        "show HEAD:a.txt",
        "show --stat v1",
        "branch",
        "branch -a",
    ),
    *(
        "branch -vv",
        "branch --show-current",
        "branch --merged HEAD",
        "tag",
        "tag --list 'v*'",
        "ls-files",
        "ls-files -o",
    ),
    *("ls-tree -r HEAD", "rev-parse HEAD", "rev-parse --show-toplevel", "rev-list --count HEAD", "blame a.txt"),
    *(
        "describe --tags --always",
        "shortlog -sn HEAD",
        "cat-file -p HEAD",
        "merge-base HEAD HEAD~1",
        "stash list",
        "reflog",
    ),
    *("reflog show HEAD", "--no-pager log -1", "--version", "count-objects -v", "name-rev HEAD"),
]


@pytest.mark.parametrize("arguments", READING)
def test_reading_runs_unasked_and_works(arguments, made):
    judged = judge(f"git {arguments}", made)
    assert not judged.concern
    done = run(judged.line, made.cwd)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "",
            "-c core.fsmonitor=x status",
            "-C .. status",
            "--git-dir=x status",
            "--exec-path=. status",
            "--paginate log",
        ),
        *(
            "-p log",
            "log --output=x",
            "log --ext-diff -p",
            "log --textconv -p",
            "diff --no-index a.txt sub/b.txt",
            "diff -Ox",
        ),
        *(
            "diff --ext-diff",
            "show --show-signature",
            "log --format=%G?",
            "log --pretty=format:%GK",
            "branch new",
            "branch -v new",
        ),
        *(
            "branch -D main",
            "branch -m x",
            "branch --edit-description",
            "branch -f x",
            "tag new",
            "tag -d v1",
            "tag -m x y",
            "tag -v --contains HEAD v1",
            "tag -a --contains HEAD x",
        ),
        *(
            "stash",
            "stash -p list",
            "stash push",
            "stash pop",
            "stash drop",
            "stash clear",
            "reflog expire --all",
            "reflog delete",
        ),
        *(
            "add .",
            "commit -m x",
            "checkout main",
            "switch main",
            "restore .",
            "reset",
            "clean -fd",
            "push",
            "pull",
            "fetch",
        ),
        *(
            "clone x",
            "init",
            "config user.name",
            "config --get x",
            "remote -v",
            "grep x",
            "grep -Ox y",
            "submodule status",
        ),
        *(
            "rebase",
            "bisect run x",
            "filter-branch",
            "gc",
            "ls-remote",
            "archive HEAD",
            "format-patch HEAD",
            "worktree list",
        ),
        *(
            "difftool",
            "mergetool",
            "instaweb",
            "help",
            "credential fill",
            "cat-file --textconv HEAD:a.txt",
            "cat-file --batch",
        ),
        *("cat-file --filters HEAD:a.txt", "show HEAD:.env", "diff -- .env", "show ':(top).env'", "log -- ../outside"),
        *(
            "diff /etc/hostname a.txt",
            "blame /etc/hostname",
            "blame --contents ../x a.txt",
            "ls-files -X ../x",
            "rev-parse --parseopt",
        ),
    ],
)
def test_what_may_do_more_asks(arguments, made):
    assert judge(f"git {arguments}", made).concern


DRIVERS = {
    "core.fsmonitor": "{pwn}",
    "core.hooksPath": "{hooks}",
    "core.pager": "{pwn}",
    "pager.log": "{pwn}",
    "core.sshCommand": "{pwn}",
    "core.editor": "{pwn}",
    "diff.external": "{pwn}",
    "diff.x.command": "{pwn}",
    "diff.x.textconv": "{pwn}",
    "filter.x.clean": "{pwn}",
    "filter.x.process": "{pwn}",
    "alias.log": "!{pwn}",
    "gpg.program": "{pwn}",
    "log.showSignature": "true",
    "include.path": "../evil",
    "core.worktree": "/",
    "core.attributesFile": "x",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.uploadpack": "{pwn}",
    "credential.helper": "{pwn}",
    "uploadpack.packObjectsHook": "{pwn}",
}


@pytest.fixture
def pwn(tmp_path):
    program = tmp_path / "pwn"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/pwned'\ncat\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        shutil.copy(program, hooks / hook)
    return program


@pytest.mark.parametrize("key", DRIVERS)
def test_a_repository_that_could_name_a_program_makes_every_call_ask(key, place, pwn):
    git(place.cwd, "config", key, DRIVERS[key].format(pwn=pwn, hooks=pwn.parent / "hooks"))
    for arguments in ("status", "log -p", "diff", "show"):
        assert "configuration" in judge(f"git {arguments}", place).concern


def test_the_hardened_call_starts_nothing_even_when_the_configuration_came_after_the_judgement(place, pwn):
    """Filters apart, against which only the look at the configuration helps."""
    lines = [
        judge(f"git {arguments}", place).line for arguments in ("status", "log -p", "diff", "show HEAD", "blame a.txt")
    ]
    (place.cwd / ".gitattributes").write_text("* diff=x\n")
    for key in DRIVERS:
        if not key.startswith(("filter.", "include.", "core.worktree", "extensions.")):
            git(place.cwd, "config", key, DRIVERS[key].format(pwn=pwn, hooks=pwn.parent / "hooks"))
    run("git status; git diff", place.cwd)
    (pwn.parent / "pwned").unlink()
    for line in lines:
        done = run(line, place.cwd, GIT_EXTERNAL_DIFF=str(pwn), GIT_PAGER=str(pwn), PAGER=str(pwn))
        assert done.returncode == 0, done.stderr
    assert not (pwn.parent / "pwned").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tfsmonitor = x\n",
        "[core] fsmonitor = x\n",
        "[CORE]\n\tFSMONITOR = x\n",
        '[filter "x"]\n\tclean = x\n',
        "[filter.x]\n\tclean = x\n",
        '[core]\n\tbare = false\n[ filter "x" ] clean = x\n',
        "[core]\n\tabbrev = 7\\\n[filter.x]\n",
        '[user "]"]\n\tname = x\n\tprogram = y\n',
        "[core]\x0b\n\tfsmonitor\n",
        "nonsense\n",
    ],
)
def test_no_way_of_writing_hides_a_setting(text, place):
    (place.cwd / ".git" / "config").write_text(text)
    assert judge("git status", place).concern


def test_a_repository_beneath_an_empty_one_counts_as_git_passes_over_that(place):
    git(place.cwd, "config", "filter.x.clean", "x")
    (place.cwd / "sub" / ".git").mkdir()
    assert judge("cd sub && git status", place).concern


def test_a_bare_repository_in_the_workspace_is_not_used(place, tmp_path):
    bare = place.cwd / "bare"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    assert judge("cd bare && git log", place).concern


def test_a_git_file_is_followed_to_the_configuration_that_counts(place, tmp_path):
    tree = tmp_path / "tree"
    git(place.cwd, "worktree", "add", "-q", str(tree))
    there = Place(tree, (tree,), place.path)
    assert not judge("git status", there).concern
    git(place.cwd, "config", "filter.x.clean", "x")
    assert judge("git status", there).concern


def test_outside_a_repository_nothing_of_git_runs_unasked(tmp_path):
    assert judge("git diff a b", Place(tmp_path, (tmp_path,), search_path())).concern


def test_a_status_leaves_the_index_as_it_is_and_does_not_enter_submodules(place, tmp_path):
    os.utime(place.cwd / "sub" / "b.txt", (1, 1))
    before = (place.cwd / ".git" / "index").read_bytes()
    line = judge("git status", place).line
    assert run(line, place.cwd).returncode == 0
    assert (place.cwd / ".git" / "index").read_bytes() == before
    assert "--ignore-submodules=dirty" in line
