"""A workspace on a real folder, and the processes that a test has left."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes_acp.local.workspace import LocalWorkspace
from tests.support.processes import TAG, processes_tagged


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(tmp_path)
    yield made
    await made.aclose()


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many processes of this test's commands live on the machine, whatever group or session they are in."""
    tag = secrets.token_hex(8)
    monkeypatch.setenv(TAG, tag)
    return lambda: len(processes_tagged(tag))
