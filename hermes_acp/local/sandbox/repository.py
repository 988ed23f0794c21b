"""Keeps what a repository lets other programs run out of the reach of sandboxed commands.

A hook, or a word in the configuration, runs outside the sandbox as soon as somebody uses git. So a session's
repositories can be read and not written; a command that was approved and calls git writes into them, but not where
programs are named. A `.git` is a mount of its own: it cannot be renamed away. One that is not there cannot be made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from hermes_acp.local import digests
from hermes_acp.local.paths import decode, encode, inside

_FILES = ("config", "config.worktree")
_FOLDERS = ("hooks", "modules", "info", "worktrees")
_NEVER = "commondir"
"""What decides, in a repository's own folder, which programs run. `commondir` leads to another configuration; git puts
it into the folders of worktrees only, and would not work with anything in its place."""

_POINTER = b"gitdir:"
_LONGEST_POINTER = 5_000
_OURS = (".hermes-acp.toml", ".hermes")
_MOST_FOLDERS = 300
_PASSED_OVER = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build"})


def unguarded(root: Path) -> str:
    """Why the repository of a folder of the session cannot be guarded, "" when it can."""
    link = os.path.islink(encode(root / ".git"))
    return f"{root}/.git is a link, which nothing can keep in its place" if link else ""


def walls(root: Path, writable: bool) -> Iterator[bytes]:
    """The options that guard the repositories of a folder of the session.

    Args:
        root: the folder, links resolved.
        writable: whether its own repository may be written, apart from what names programs.
    """
    git, nested = encode(root / ".git"), list(_nested(encode(root)))
    elsewhere = [place for each in (git, *nested) for place in _pointed_to(each, root)]
    for folder in _above((*nested, *elsewhere), encode(root)):
        yield from (b"--bind", folder, folder)
    kind = _kind(git)
    if kind == "folder" and not _entries(git):
        pass
    elif kind == "folder" and writable:
        yield from (b"--bind", git, git)
        yield from _guarded_parts(git)
    elif kind in ("folder", "file"):
        yield from (b"--ro-bind", git, git)
    for place in (*map(encode, (root / name for name in _OURS)), *nested, *elsewhere):
        if _kind(place) in ("folder", "file"):
            yield from (b"--ro-bind", place, place)


def stand_ins(root: Path, writable: bool) -> list[bytes]:
    """What is not there and must not come: the repository itself, or what would name programs in it. Arguments as of
    `walls`."""
    git = encode(root / ".git")
    if missing(root):
        return [git]
    if not writable or _kind(git) != "folder":
        return []
    parts = [os.path.join(git, name.encode()) for name in (*_FILES, *_FOLDERS, _NEVER)]
    return [part for part in parts if not _kind(part)]


def in_place_of(part: bytes) -> tuple[bytes, ...]:
    """The options that put something empty where nothing is. Nothing can stand where git would read it, and would
    stop: `put_away` sees to that."""
    name = os.path.basename(part).decode()
    if name == _NEVER:
        return ()
    return (b"--ro-bind", b"/dev/null", part) if name in _FILES else (b"--tmpfs", part, b"--remount-ro", part)


def put_away(part: bytes) -> None:
    """Remove what stood in, or has come, where nothing was. What the person has put there stays."""
    with suppress(OSError):
        if os.path.basename(part).decode() == _NEVER or (_kind(part) == "file" and not os.path.getsize(part)):
            os.unlink(part)
        else:
            os.rmdir(part)


def missing(root: Path) -> bool:
    """Whether a folder has no repository of its own, and one could be made. An empty `.git` is none: it may have been
    left by an agent that was killed."""
    git = encode(root / ".git")
    kind = _kind(git)
    return os.access(encode(root), os.W_OK) and (kind == "" or (kind == "folder" and not _entries(git)))


def _guarded_parts(git: bytes) -> Iterator[bytes]:
    for name in (*_FILES, *_FOLDERS, _NEVER):
        part = os.path.join(git, name.encode())
        if _kind(part) in ("folder", "file"):
            yield from (b"--ro-bind", part, part)


def _above(places: Iterable[bytes], root: bytes) -> list[bytes]:
    """The folders between a root and these places, the topmost first, as far as no repository begins. A folder that
    is a mount cannot be renamed, and another one with another repository cannot come in its place."""
    found = set()
    for place in places:
        while (place := os.path.dirname(place)).startswith(root + b"/"):
            found.add(place)
    return sorted(folder for folder in found if b".git" not in folder.removeprefix(root).split(b"/"))


def _pointed_to(git: bytes, root: Path) -> Iterator[bytes]:
    """The folders that a `.git` file names, as in worktrees and submodules, where they lie in `root`."""
    if _kind(git) != "file":
        return
    said = digests.content(git, _LONGEST_POINTER)
    if said is None or not said.startswith(_POINTER):
        return
    folder = os.path.realpath(os.path.join(os.path.dirname(git), said.removeprefix(_POINTER).strip()))
    for place in dict.fromkeys((folder, _common(folder))):
        if _kind(place) == "folder" and inside(decode(place), [root]):
            yield place


def _common(folder: bytes) -> bytes:
    said = digests.content(os.path.join(folder, _NEVER.encode()), _LONGEST_POINTER)
    return os.path.realpath(os.path.join(folder, said.strip())) if said else folder


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
