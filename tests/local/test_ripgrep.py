"""Ripgrep: found without PATH, bounded, and gone when it is not wanted any more."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local import ripgrep
from tests.support.processes import until


async def files(folder: Path, limit: int = 1000, seconds: float = 20) -> ripgrep.Found:
    return await ripgrep.run((b"--files", b"--null"), cwd=folder, separator=b"\0", limit=limit, seconds=seconds)


async def test_the_one_that_came_with_the_package_is_found_without_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "a").write_text("")
    assert (await files(tmp_path)).records == (b"a",)


async def test_without_any_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ToolError, match="ripgrep"):
        await files(tmp_path)


async def test_results_are_sorted_and_cut_at_the_limit(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}").write_text("")
    found = await files(tmp_path, limit=10)
    assert found.records == tuple(b"%02d" % number for number in range(10))
    assert found.cut == "limit"
    assert (await files(tmp_path, limit=30)).cut == ""


async def test_its_configuration_and_ours_are_kept_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--glob=!b\n")
    (tmp_path / "b").write_text("")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert b"b" in (await files(tmp_path)).records


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ripgrep that never ends."""
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nprintf 'one\\0'\nexec sleep 300\n")
    program.chmod(0o755)
    monkeypatch.setattr(ripgrep, "program", lambda: os.fsencode(program))


@pytest.mark.usefixtures("endless")
async def test_at_the_deadline_it_is_killed_and_what_it_found_is_kept(tmp_path: Path, alive: Callable[[], int]) -> None:
    found = await files(tmp_path, seconds=0.3)
    assert (found.records, found.cut) == ((b"one",), "time")
    await asyncio.sleep(0.1)
    assert alive() == 0


@pytest.mark.usefixtures("endless")
async def test_cancelling_kills_it(tmp_path: Path, alive: Callable[[], int]) -> None:
    running = asyncio.create_task(files(tmp_path))
    assert await asyncio.to_thread(until, lambda: alive() == 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0.1)
    assert alive() == 0
