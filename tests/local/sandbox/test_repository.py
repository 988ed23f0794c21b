"""What makes git run programs cannot be set from inside the sandbox, by no trick of names."""

import asyncio
import os
import shutil
import subprocess

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.workspace import Command


def _repository(folder):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder / ".git"


def _git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def _log(git):
    return subprocess.run(["git", "-C", str(git.parent), "log", "--format=%s"], capture_output=True, text=True).stdout


async def test_a_repository_cannot_be_renamed_to_put_a_hook_into_it(walled):
    git = _repository(walled.workspace.cwd)
    line = "mv .git .git2; cp -r .git .git3; mv .git3 .git; printf 'pwn x' > .git/hooks/pre-commit"
    for access in ({}, {"repository": True}):
        await walled(line, **access)
        assert not (git / "hooks" / "pre-commit").exists()
        assert git.is_dir()


async def test_a_repository_that_is_not_there_cannot_be_made(walled):
    done = await walled("git init; mkdir -p .git/hooks; echo pwn > .git/config; rmdir .git; mv .git x")
    assert done.exit_code != 0
    assert os.listdir(walled.workspace.cwd) == []


async def test_what_stands_in_for_a_repository_stays_while_another_command_runs(walled):
    workspace = walled.workspace
    await workspace.start(Command("sleep 0.5; mkdir -p .git/hooks && echo made", workspace.cwd, 10))
    await walled("true")
    await workspace.background["p1"].wait(5)
    assert "made" not in workspace.background["p1"].look().output
    await walled("true")
    assert os.listdir(workspace.cwd) == []


async def test_a_command_that_was_approved_commits_but_sets_no_hook_and_no_configuration(walled):
    git = _repository(walled.workspace.cwd)
    before = (git / "config").read_bytes()
    line = "touch a && git add a && git -c user.name=a -c user.email=a@b commit -qm one; git config core.pager evil"
    done = await walled(line, repository=True)
    assert (git / "config").read_bytes() == before
    log = await asyncio.to_thread(_log, git)
    assert log == "one\n", done.output


async def test_a_command_that_was_approved_leads_git_to_no_other_configuration(walled):
    """`commondir` would; what stands in for other parts is put away, and the repository works on."""
    git = _repository(walled.workspace.cwd)
    for name in ("hooks", "info"):
        shutil.rmtree(git / name, ignore_errors=True)
    line = (
        "mkdir -p evil/refs evil/objects; printf '[core]\n fsmonitor = touch pwned\n' > evil/config; "
        "echo ../evil > .git/commondir; echo x > .git/config.worktree; mkdir -p .git/worktrees/a .git/modules/b "
        ".git/hooks .git/info; echo x > .git/hooks/pre-commit; echo x > .git/info/attributes; true"
    )
    before = set(os.listdir(git))
    assert (await walled(line, repository=True)).exit_code == 0
    assert set(os.listdir(git)) == before
    assert "No commits yet" in await asyncio.to_thread(_git, git.parent, "status")
    assert not (git.parent / "pwned").exists()


@pytest.mark.parametrize("place", [".git", "part/.git"])
async def test_a_repository_that_a_file_names_cannot_be_written(walled, place):
    """As in submodules and worktrees, and where somebody keeps the repository apart."""
    cwd = walled.workspace.cwd
    work = (cwd / place).parent
    argv = ["git", "init", "-q", "--separate-git-dir", str(cwd / "kept" / "apart"), str(work)]
    (cwd / "kept").mkdir()
    await asyncio.to_thread(_git, cwd, *argv[1:])
    assert (cwd / place).is_file()
    line = (
        f"echo evil >> kept/apart/config; mkdir -p kept/apart/hooks; echo x > kept/apart/hooks/pre-commit; rm {place}"
    )
    for access in ({}, {"repository": True}):
        await walled(line, **access)
    assert "evil" not in (cwd / "kept" / "apart" / "config").read_text()
    assert not (cwd / "kept" / "apart" / "hooks" / "pre-commit").exists()
    assert (cwd / place).is_file()


async def test_the_repository_of_a_worktree_cannot_be_written(walled):
    """The worktree lies in the folder, and so does what it belongs to."""
    cwd = walled.workspace.cwd
    git = _repository(cwd / "main")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    await asyncio.to_thread(_git, git.parent, *who, "commit", "-q", "--allow-empty", "-m", "one")
    (cwd / "deep" / "er").mkdir(parents=True)
    (cwd / "main").rename(cwd / "deep" / "er" / "main")
    main = cwd / "deep" / "er" / "main"
    await asyncio.to_thread(_git, main, "worktree", "add", "-q", str(cwd / "tree"))
    await walled(
        "mv deep/er deep/old; cp -r deep/old deep/er; mv tree t; mv deep d; echo evil >> deep/er/main/.git/config; "
        "echo evil >> deep/er/main/.git/worktrees/tree/commondir"
    )
    assert "evil" not in (main / ".git" / "config").read_text()
    assert "evil" not in (main / ".git" / "worktrees" / "tree" / "commondir").read_text()


async def test_a_repository_that_is_a_link_is_not_walled(walled):
    (walled.workspace.cwd / ".git").symlink_to("elsewhere")
    with pytest.raises(ToolError, match="is a link"):
        await walled("true")


async def test_a_command_that_does_not_need_the_repository_cannot_write_it(walled):
    git = _repository(walled.workspace.cwd)
    await walled("echo evil > .git/config; echo x > .git/HEAD; touch .git/commondir")
    assert "evil" not in (git / "config").read_text()
    assert not (git / "commondir").exists()


async def test_a_repository_below_the_folder_cannot_be_written(walled):
    (walled.workspace.cwd / "part").mkdir()
    git = _repository(walled.workspace.cwd / "part")
    await walled("echo evil >> part/.git/config; mv part/.git part/x; mv part old; mkdir -p part/.git/hooks; touch p")
    assert "evil" not in (git / "config").read_text()
    assert (git / "HEAD").exists()
    assert sorted(os.listdir(walled.workspace.cwd)) == ["p", "part"]
