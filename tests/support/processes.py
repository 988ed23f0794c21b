"""Processes of the whole machine, found by a mark in their environment."""

from __future__ import annotations

from pathlib import Path

TAG = "HERMES_TEST_TAG"
"""The environment variable that marks everything one test has started."""


def processes_tagged(tag: str) -> list[int]:
    """The ids of all living processes that carry the tag, zombies left out."""
    mark = f"{TAG}={tag}".encode()
    folders = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(folder.name) for folder in folders if mark in _environment(folder)]


def _environment(folder: Path) -> list[bytes]:
    """Empty for processes that have ended, and for those of other users."""
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
