"""Keeps what a repository lets other programs run out of the reach of sandboxed commands.

A hook, or a word in the configuration, runs outside the sandbox as soon as somebody uses git. So a session's
repositories can be read and not written; a command that was approved and calls git writes into them, but not where
programs are named. A `.git` is a mount of its own: it cannot be renamed away. One that is not there cannot be made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hermes_acp.local.paths import encode

_NAMES_PROGRAMS = ("config", "config.worktree", "hooks", "modules", "info", "commondir", "worktrees")
"""What decides, in a repository's own folder, which programs run."""

_OURS = (".hermes-acp.toml", ".hermes")
_MOST_FOLDERS = 300
_PASSED_OVER = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build"})


def walls(root: Path, writable: bool) -> Iterator[bytes]:
    """The options that guard the repositories of a folder of the session.

    Args:
        root: the folder, links resolved.
        writable: whether its own repository may be written, apart from what names programs.
    """
    git = encode(root / ".git")
    kind = _kind(git)
    if kind == "folder" and not _entries(git):
        pass
    elif kind == "folder" and writable:
        yield from (b"--bind", git, git)
        yield from _guarded_parts(git)
    elif kind in ("folder", "file"):
        yield from (b"--ro-bind", git, git)
    for name in _OURS:
        path = encode(root / name)
        if _kind(path) in ("folder", "file"):
            yield from (b"--ro-bind", path, path)
    for nested in _nested(encode(root)):
        yield from (b"--ro-bind-try", nested, nested)


def missing(root: Path) -> bool:
    """Whether a folder has no repository of its own, and one could be made. An empty `.git` is none: it may have been
    left by an agent that was killed."""
    git = encode(root / ".git")
    kind = _kind(git)
    return os.access(encode(root), os.W_OK) and (kind == "" or (kind == "folder" and not _entries(git)))


def _guarded_parts(git: bytes) -> Iterator[bytes]:
    for name in _NAMES_PROGRAMS:
        part = os.path.join(git, name.encode())
        if _kind(part) in ("folder", "file"):
            yield from (b"--ro-bind", part, part)
        elif name == "hooks":
            yield from (b"--tmpfs", part, b"--remount-ro", part)


def _nested(root: bytes) -> Iterator[bytes]:
    """The repositories in the folders of a folder, two levels deep."""
    seen = 0
    level = [root]
    for _ in range(2):
        level = [folder for parent in level for folder in _folders(parent)][: _MOST_FOLDERS - seen]
        seen += len(level)
        yield from (git for folder in level if _kind(git := os.path.join(folder, b".git")) in ("folder", "file"))


def _folders(parent: bytes) -> list[bytes]:
    try:
        with os.scandir(parent) as entries:
            return [
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and entry.name != b".git"
                and os.fsdecode(entry.name) not in _PASSED_OVER
            ]
    except OSError:
        return []


def _entries(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return [b"?"]


def _kind(path: bytes) -> str:
    """ "folder", "file", "other" (such as a link), or "" where nothing is."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"
