"""A session's workspace behind real walls. Where bubblewrap is installed it has to work: then nothing is skipped."""

import pytest

from hermes_acp.local.sandbox.walls import Sandbox
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Access, Command
from tests.support.walls import working_sandbox


@pytest.fixture
def wrapper():
    return working_sandbox()


@pytest.fixture
async def walled(wrapper, tmp_path):
    """A function that runs a command in the sandbox of a session in `tmp_path/ws`."""
    (tmp_path / "ws").mkdir()
    workspace = LocalWorkspace(tmp_path / "ws", (), Sandbox(wrapper, (tmp_path / "ws" / "hidden",)))

    async def run(line, timeout=10, **access):
        command = Command(line, workspace.cwd, timeout, access=Access(**access))
        return await workspace.run(command, lambda text, terminal_id=None: None)

    run.workspace = workspace
    yield run
    await workspace.aclose()
