"""What is lost by deleting: what git cannot give back, unless a rule that git has too says it can be made again."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hermes_acp.local import digests, paths

_SECONDS = 3
_LARGEST_RULES = 100_000
_MOST_FOLDERS = 20_000
_ENVIRONMENT = {
    "PATH": "/usr/bin:/usr/local/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_RULES = ".gitignore"


def lost(target: Path) -> str:
    """What would be lost with a path, as a name, "" when nothing would. Runs git, which runs nothing of the project."""
    folder, name = target.parent, os.fsdecode(paths.encode(target))
    if _holds_repository(target):
        return f"{target.name} with a repository in it"
    untracked = _git(folder, "ls-files", "-z", "--others", "--", name)
    if untracked is None:
        return target.name
    if not untracked or (_git(folder, "check-ignore", "-q", "--", name) is not None and _rules_are_gits(folder)):
        return ""
    return untracked.split(b"\0", 1)[0].decode("utf-8", "replace")


def _rules_are_gits(folder: Path) -> bool:
    """Whether the rules above are as git has them: a model could write one, and delete what it names with the next
    command."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return False
    root = paths.decode(top.rstrip(b"\n"))
    return all(_is_gits(rules) for rules in _rules_above(paths.real(folder), root))


def _rules_above(folder: Path, top: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        if os.path.lexists(paths.encode(place / _RULES)):
            yield place / _RULES
        if place == top:
            return


def _is_gits(rules: Path) -> bool:
    listed = (_git(rules.parent, "ls-files", "-s", "--", _RULES) or b"").split()
    data = digests.content(paths.encode(rules), _LARGEST_RULES)
    if len(listed) < 2 or data is None or rules.is_symlink():
        return False
    kind = "sha1" if len(listed[1]) == 40 else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data).hexdigest().encode() == listed[1]


def _holds_repository(target: Path) -> bool:
    """Whether a repository of its own is at or below a path. What is in it no other repository knows."""
    walk = os.walk(paths.encode(target))
    return any(b".git" in (*folders, *files) or count > _MOST_FOLDERS for count, (_, folders, files) in enumerate(walk))


def _git(folder: Path, *words: str) -> bytes | None:
    """What git says in a folder; None when it fails."""
    argv = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *words]
    try:
        done = subprocess.run(
            argv,
            cwd=paths.encode(folder),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            env=_ENVIRONMENT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
