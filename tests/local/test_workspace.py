"""The local workspace as the tools see it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError, Unfinished
from hermes_acp.local import files, writing
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Workspace


def test_it_is_a_workspace_whose_roots_are_real_and_begin_with_cwd(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    workspace: Workspace = LocalWorkspace(tmp_path / "link", (tmp_path, tmp_path / "real"))
    assert workspace.cwd == tmp_path / "real"
    assert workspace.roots == (tmp_path / "real", tmp_path)


async def test_a_dangling_link_exists(workspace: LocalWorkspace) -> None:
    (workspace.cwd / "link").symlink_to("nowhere")
    assert await workspace.exists(workspace.cwd / "link")
    assert not await workspace.exists(workspace.cwd / "nowhere")


async def test_a_cancelled_write_has_ended_when_its_call_has(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    safely = os.fsync

    def slow(descriptor: int) -> None:
        import time

        time.sleep(0.3)
        safely(descriptor)
        ended.append(True)

    monkeypatch.setattr(os, "fsync", slow)
    writing = asyncio.create_task(workspace.write(workspace.cwd / "f", b"x", replacing=None))
    await asyncio.sleep(0.1)
    writing.cancel()
    with pytest.raises(Unfinished, match="had been written"):
        await writing
    assert ended == [True]
    assert (workspace.cwd / "f").read_bytes() == b"x"
    await workspace.write(workspace.cwd / "f", b"y", replacing=b"x")


async def test_a_cancelled_read_of_a_huge_file_stops_reading(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workspace.cwd / "long"
    path.write_bytes(b"x" * 30_000_000)
    reads = 0
    plainly = os.pread

    def slow(*args: int) -> bytes:
        import time

        nonlocal reads
        reads += 1
        time.sleep(0.05)
        return plainly(*args)

    monkeypatch.setattr(os, "pread", slow)
    monkeypatch.setattr(files, "digest", lambda path: None)
    reading = asyncio.create_task(workspace.read_lines(path, 5, 1, 100))
    await asyncio.sleep(0.12)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await asyncio.sleep(0.2)
    assert reads < 10


async def test_a_file_has_one_writer_at_a_time(workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked before a file is replaced must hold when it is: two could both find the old content."""
    target = workspace.cwd / "a"
    target.write_bytes(b"old")
    inside, most, real = [0], [0], writing.write

    def write(path: Path, data: bytes, replacing: bytes | None) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        inside[0] -= 1
        real(path, data, replacing)

    monkeypatch.setattr(writing, "write", write)
    writes = [workspace.write(target, str(number).encode(), replacing=b"old") for number in range(5)]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert most == [1]
    assert [outcome for outcome in outcomes if not isinstance(outcome, ToolError)] == [target.read_bytes()]
