"""`hermes-acp trust` on the command line."""

import os
import subprocess
import sys

from tests.support.editor import ROOT, agent_env


def trust(home, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "hermes_acp", "trust", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=agent_env(home),
        cwd=ROOT,
    )


def test_a_projects_files_are_added_listed_and_removed(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    file = os.path.realpath(project / "AGENTS.md")
    (project / "AGENTS.md").write_text("Use tabs.\n")
    assert trust(tmp_path, "add", str(project)).stdout == f"trusted  {file}\n"
    (project / "AGENTS.md").write_text("Use spaces.\n")
    assert trust(tmp_path, "list").stdout == f"changed  {file}\n"
    assert trust(tmp_path, "remove", str(project)).returncode == 0
    assert trust(tmp_path).stdout == ""
    assert trust(tmp_path, "remove", str(project)).returncode == 1
    assert trust(tmp_path, "grant").returncode == 2
