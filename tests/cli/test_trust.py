"""`hermes-acp trust` on the command line."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

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


@pytest.fixture
def project(tmp_path):
    """A project with a file for agents, a skill of two files and a server."""
    folder = tmp_path.resolve() / "project"
    for name, text in {
        "AGENTS.md": "Use tabs.\n",
        "CLAUDE.md": "Use spaces.\n",
        "notes.txt": "A note.\n",
        ".hermes/skills/release/SKILL.md": "---\nname: release\ndescription: Releases.\n---\nDo it.",
        ".hermes/skills/release/checks.md": "Check it.",
        ".mcp.json": '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "${SECRET_OF_MINE}"]}}}',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_what_is_trusted_is_told_with_its_files_servers_and_time(tmp_path, project):
    done = trust(tmp_path, "add", str(project), SECRET_OF_MINE="sk-hidden")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "THEN", line) for line in done.stdout.splitlines()]
    assert lines == [
        f"trusted  {project}/.hermes/skills/release",
        "         skill: SKILL.md and 1 file (checks.md), since THEN",
        f"trusted  {project}/.mcp.json",
        "         MCP servers, since THEN",
        '         notes: {"command": "npx", "args": ["-y", "${SECRET_OF_MINE}"]}',
        f"trusted  {project}/AGENTS.md",
        "         file for agents, since THEN",
    ]
    assert trust(tmp_path, "list", SECRET_OF_MINE="sk-hidden").stdout == done.stdout


def test_what_has_changed_since_and_what_is_gone_is_told(tmp_path, project):
    trust(tmp_path, "add", str(project), SECRET_OF_MINE="x")
    later = time.time() + 60
    (project / ".hermes/skills/release/checks.md").write_text("Other.")
    os.utime(project / ".hermes/skills/release/checks.md", (later, later))
    (project / "AGENTS.md").unlink()
    shown = trust(tmp_path, "list", SECRET_OF_MINE="x").stdout
    assert f"changed  {project}/.hermes/skills/release\n" in shown
    assert "changed since (checks.md): not used until you agree to it again\n" in shown
    assert f"gone     {project}/AGENTS.md\n" in shown
    assert f"trusted  {project}/.mcp.json\n" in shown


def test_what_would_have_no_effect_is_not_trusted_and_the_reason_told(tmp_path, project):
    for name, reason in {
        "notes.txt": "no agent reads it; a project brings AGENTS.md",
        "CLAUDE.md": "AGENTS.md beside it is read in its place",
        ".mcp.json": "the variable SECRET_OF_MINE is not set",
    }.items():
        done = trust(tmp_path, "add", str(project / name))
        assert done.returncode == 1
        assert done.stdout.startswith(f"skipped  {project / name}\n         not agreed to: {reason}")
    done = trust(tmp_path, "add", str(project / "nowhere"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is nothing to trust at" in done.stderr


def test_what_lost_its_effect_is_told(tmp_path, project):
    (project / "AGENTS.md").unlink()
    assert trust(tmp_path, "add", str(project / "CLAUDE.md")).returncode == 0
    (project / "AGENTS.md").write_text("Anew.\n")
    assert "without effect: AGENTS.md beside it is read in its place\n" in trust(tmp_path).stdout


def test_a_file_that_is_a_link_is_trusted_by_the_name_that_a_session_knows(tmp_path, project):
    (project / "AGENTS.md").rename(project / "real.md")
    (project / "AGENTS.md").symlink_to("real.md")
    trust(tmp_path, "add", str(project / "AGENTS.md"))
    kept = json.loads((tmp_path / "hermes-acp" / "trust.json").read_text("utf-8"))
    assert [*kept["trusted"]] == [str(project / "AGENTS.md")]


def test_what_is_taken_back_is_named(tmp_path, project):
    trust(tmp_path, "add", str(project), SECRET_OF_MINE="x")
    done = trust(tmp_path, "remove", str(project))
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("removed")] == [
        str(project / name) for name in (".hermes/skills/release", ".mcp.json", "AGENTS.md")
    ]
    assert trust(tmp_path).stdout.startswith("Nothing of any project is trusted.")
    assert trust(tmp_path, "remove", str(project)).returncode == 1
    assert trust(tmp_path, "grant").returncode == 2
    assert trust(tmp_path, "--help").returncode == 0


def test_a_list_from_before_times_were_noted_still_counts(tmp_path, project):
    trust(tmp_path, "add", str(project / "AGENTS.md"))
    file = tmp_path / "hermes-acp" / "trust.json"
    kept = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({"trusted": kept["trusted"], "never": []}), "utf-8")
    assert trust(tmp_path).stdout == f"trusted  {project}/AGENTS.md\n         file for agents\n"


def test_a_damaged_list_trusts_nothing_and_says_so(tmp_path):
    (tmp_path / "hermes-acp").mkdir()
    (tmp_path / "hermes-acp" / "trust.json").write_text("{")
    done = trust(tmp_path)
    assert "trust.json is damaged, so nothing is trusted" in done.stderr
    assert done.stdout.startswith("Nothing of any project is trusted.")


def test_servers_that_would_be_given_a_models_key_are_not_trusted(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "x", "env": {"A": "${OPENAI_API_KEY}"}}}}')
    assert trust(tmp_path, "add", str(project), OPENAI_API_KEY="sk-0123456789").returncode == 1
    assert trust(tmp_path, "list").stdout.startswith("Nothing of any project is trusted.")


def test_an_answer_that_cannot_be_kept_is_one_line(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "AGENTS.md").write_text("Use tabs.\n")
    (tmp_path / "hermes-acp").mkdir()
    (tmp_path / "hermes-acp" / "trust.json").mkdir()
    done = trust(tmp_path, "add", str(tmp_path / "project"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "trust.json" in done.stderr
