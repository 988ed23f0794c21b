"""Paths by what writing there does."""

from pathlib import Path

import pytest

from hermes_acp.tools.safety.paths import steers_tools


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".VSCode/tasks.json",
        "sub/.envrc",
        ".mcp.json",
        ".bashrc",
        ".zshenv",
        ".config/autostart/x.desktop",
        ".config/systemd/user/x.service",
        ".local/bin/ls",
        "Library/LaunchAgents/x.plist",
    ],
)
def test_what_other_programs_start_by_is_known(path):
    assert steers_tools(Path("/home/me") / path)


@pytest.mark.parametrize(
    "path", ["src/main.py", ".gitignore", ".github/workflows/ci.yml", "config/autostart", "bashrc"]
)
def test_files_of_a_project_are_not_taken_for_it(path):
    assert not steers_tools(Path("/home/me/project") / path)
