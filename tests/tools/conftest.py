"""Calling tools as the agent does: arguments as a model writes them, then prepare, then run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.cards import ToolResult
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.tools.base import Action, ToolContext
from hermes_acp.tools.registry import discover

Prepare = Callable[..., Awaitable[Action]]
Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The session's folder; what lies beside it is outside the workspace."""
    made = tmp_path / "My Proj (1)"
    made.mkdir()
    return made


@pytest.fixture
async def workspace(folder: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(folder)
    yield made
    await made.aclose()


@pytest.fixture
def prepare(workspace: LocalWorkspace) -> Prepare:
    async def prepared(name: str, show: Callable[[str], None] = lambda text: None, **arguments: Any) -> Action:
        tool = discover()[name]
        args = tool.params.model_validate(arguments)
        tool.paths(args, workspace)
        return await tool.prepare(args, ToolContext("call_1", workspace, show))

    return prepared


@pytest.fixture
def call(prepare: Prepare) -> Call:
    async def called(name: str, show: Callable[[str], None] = lambda text: None, **arguments: Any) -> ToolResult:
        result = await (await prepare(name, show, **arguments)).run()
        assert result.text.strip()
        return result

    return called
