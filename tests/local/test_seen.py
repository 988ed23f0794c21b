"""Remembering what was seen: somebody else's change is noticed by content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "r.txt"
    path.write_bytes(b"base\n")
    return path


@pytest.mark.parametrize("edit", [b"base\nuser edit\n", b"BASE\n"])
async def test_a_file_changed_by_somebody_else_since_it_was_read_is_not_overwritten(
    workspace: LocalWorkspace, file: Path, edit: bytes
) -> None:
    times = file.stat()
    await workspace.read_lines(file, 1, 10, 1000)
    file.write_bytes(edit)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    now = await workspace.read(file)
    with pytest.raises(ToolError, match="changed"):
        await workspace.write(file, b"agent\n", replacing=now)
    assert file.read_bytes() == edit
    await workspace.read_lines(file, 1, 10, 1000)
    await workspace.write(file, b"agent\n", replacing=now)
    assert file.read_bytes() == b"agent\n"


async def test_a_touched_but_equal_file_is_not_taken_for_changed(workspace: LocalWorkspace, file: Path) -> None:
    await workspace.read_lines(file, 1, 10, 1000)
    file.write_bytes(b"base\n")
    await workspace.write(file, b"new\n", replacing=b"base\n")
    assert file.read_bytes() == b"new\n"


async def test_what_our_own_command_changed_may_be_edited(workspace: LocalWorkspace, file: Path) -> None:
    await workspace.read_lines(file, 1, 10, 1000)
    await workspace.run(Command("echo formatted > r.txt", file.parent, 10), lambda text: None)
    await workspace.write(file, b"new\n", replacing=b"formatted\n")
    assert file.read_bytes() == b"new\n"


async def test_our_own_writes_follow_one_another(workspace: LocalWorkspace, file: Path) -> None:
    await workspace.read_lines(file, 1, 10, 1000)
    await workspace.write(file, b"one\n", replacing=b"base\n")
    await workspace.write(file, b"two\n", replacing=b"one\n")
    file.write_bytes(b"three\n")
    with pytest.raises(ToolError, match="changed"):
        await workspace.write(file, b"four\n", replacing=b"three\n")


async def test_a_file_never_read_may_be_written(workspace: LocalWorkspace, file: Path) -> None:
    await workspace.write(file, b"new\n", replacing=b"base\n")
    await workspace.write(file.parent / "n/new.txt", b"new\n", replacing=None)
    assert (file.parent / "n/new.txt").read_bytes() == b"new\n"
