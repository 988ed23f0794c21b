"""Where a session works: its folders, the system, the day, the branch."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from hermes_acp.agent.prompt.guidance import read_within, repository_of
from hermes_acp.text import shorten, visible

_NAME = 100
_HEAD = 1_000


def environment(roots: Sequence[Path], today: date) -> str:
    """The surroundings as a list; `roots` are the session's folders, the working folder first."""
    lines = [f"- Working folder: {_shown(roots[0])}"]
    lines += [f"- Further folder: {_shown(root)}" for root in roots[1:]]
    lines += [f"- System: {platform.system()} {platform.machine()}", f"- Date: {today.isoformat()}"]
    if branch := git_branch(roots[0]):
        lines.append(f"- Git branch: {branch}")
    return "\n".join(lines)


def git_branch(folder: Path) -> str:
    """The checked-out branch, read from the files: running git could run what the repository configures."""
    repository = repository_of(folder)
    if repository is None:
        return ""
    git = repository / ".git"
    pointer = read_within(git, repository, _HEAD)
    if pointer.startswith("gitdir:"):
        git = _worktree(repository / pointer.removeprefix("gitdir:").strip())
    head = read_within(git / "HEAD", git, _HEAD).strip()
    return shorten(" ".join(visible(head.removeprefix("ref: refs/heads/")).split()), _NAME)


def _worktree(folder: Path) -> Path:
    """The folder that a linked worktree's `.git` file names; nothing else may be read by way of it."""
    return folder if folder.parent.name in ("worktrees", "modules") else Path("/dev/null")


def _shown(path: Path) -> str:
    return visible(str(path)).replace("\n", "\\n")
