"""`hermes-acp trust` on the command line."""

import os
import subprocess
import sys

from tests.support.editor import ROOT, agent_env


def trust(home, *arguments, **env):
    return subprocess.run(
        [sys.executable, "-m", "hermes_acp", "trust", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=agent_env(home, **env),
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


def test_servers_that_would_be_given_a_models_key_are_not_trusted(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "x", "env": {"A": "${OPENAI_API_KEY}"}}}}')
    assert trust(tmp_path, "add", str(project), OPENAI_API_KEY="sk-0123456789").returncode == 1
    assert trust(tmp_path, "list").stdout == ""


def test_an_answer_that_cannot_be_kept_is_one_line(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "AGENTS.md").write_text("Use tabs.\n")
    (tmp_path / "hermes-acp").mkdir()
    (tmp_path / "hermes-acp" / "trust.json").mkdir()
    done = trust(tmp_path, "add", str(tmp_path / "project"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "trust.json" in done.stderr
