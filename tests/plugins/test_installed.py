"""A plugin that pip has installed, in a whole agent over its real stdio."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import ROOT, agent_env, choose, open_editor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder where pip has put the sample plugin."""
    folder = tmp_path_factory.mktemp("site")
    sample = tmp_path_factory.mktemp("source") / "sample"
    subprocess.run(["cp", "-R", Path(__file__).parent / "sample", sample], check=True)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", folder, sample], check=True)
    return folder


async def test_its_veto_is_seen_by_all_and_it_is_told_of_what_ran(tmp_path, model, project, installed):
    log = tmp_path / "log"
    path = f"{ROOT}:{installed}"
    async with open_editor(tmp_path / "home", model.url, PYTHONPATH=path, SAMPLE_LOG=str(log)) as editor:
        await editor.initialize()
        asked = []
        editor.handlers["session/request_permission"] = lambda params: (
            asked.append(params) or choose("allow_once")(params)
        )
        (project / "a.txt").write_text("content\n")
        model.say(
            Say(calls=[Call("terminal", {"command": "git push --force"}), Call("read_file", {"path": "a.txt"})]),
            Say(calls=[Call("read_file", {"path": "missing"})]),
            "Done.",
        )
        session = await editor.new_session(project)
        assert await editor.prompt(session, "push it") == "end_turn"
        results = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
        assert results[0] == (
            "The plugin sample does not allow this: Nothing is pushed by force here. Make a merge commit instead."
        )
        assert "content" in results[1]
        assert asked == []
        ends = {
            update["toolCallId"]: (update["status"], json.dumps(update))
            for update in editor.updates(session, "tool_call_update")
            if update.get("status") in ("completed", "failed")
        }
        statuses = [status for status, _ in ends.values()]
        assert sorted(statuses) == ["completed", "failed", "failed"]
        assert any("pushed by force" in text for _, text in ends.values())
    facts = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [(fact["tool"], fact["arguments"], fact["failed"]) for fact in facts] == [
        ("read_file", {"path": "a.txt"}, False),
        ("read_file", {"path": "missing"}, True),
    ]
    assert {(fact["session"], fact["cwd"]) for fact in facts} == {(session, str(project))}
    assert "content" in facts[0]["result"]


async def test_a_broken_one_is_told_of_once_and_stops_nothing(tmp_path, model, project):
    site = tmp_path / "site"
    info = site / "broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hermes_acp.plugins]\nbroken = broken_plugin\n")
    (site / "broken_plugin.py").write_text("print('loaded'); raise RuntimeError('not today')\n")
    async with open_editor(tmp_path / "home", model.url, PYTHONPATH=f"{ROOT}:{site}") as editor:
        await editor.initialize()
        for _ in range(2):
            session = await editor.new_session(project)
            await editor.prompt(session, "hi")
            await editor.prompt(session, "hi again")
            said = editor.text(session)
            assert said.count("A plugin could not be loaded, and is not in force") == 1
            assert "broken: RuntimeError: not today" in said
        assert editor.stderr.count("loaded\n") == 1


def test_the_doctor_names_them_with_their_hooks_and_those_that_are_not_in_force(tmp_path, installed):
    site = tmp_path / "site"
    info = site / "broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hermes_acp.plugins]\nbroken = broken_plugin\n")
    (site / "broken_plugin.py").write_text("print('noise'); raise RuntimeError('not today')\n")
    done = subprocess.run(
        [sys.executable, "-m", "hermes_acp", "doctor", "--offline"],
        env=agent_env(tmp_path / "home", PYTHONPATH=f"{ROOT}:{installed}:{site}"),
        capture_output=True,
        timeout=60,
    )
    plugins = [line.split(maxsplit=2) for line in done.stdout.decode().splitlines() if " plugin " in line]
    assert [words[0] for words in plugins] == ["ok", "warning"]
    assert plugins[0][2] == "sample: pre_tool_call, post_tool_call"
    assert plugins[1][2].startswith("broken: RuntimeError: not today")
    assert b"noise" not in done.stdout
    assert b"Traceback" not in done.stderr


async def test_plugins_are_not_loaded_before_a_prompt(tmp_path, model, project):
    site = tmp_path / "site"
    info = site / "late-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hermes_acp.plugins]\nlate = late_plugin\n")
    (site / "late_plugin.py").write_text("open('/proc/self/fd/2', 'a').write('LOADED')\n")
    async with open_editor(tmp_path / "home", model.url, PYTHONPATH=f"{ROOT}:{site}") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "/help")
        assert "LOADED" not in editor.stderr
        await editor.prompt(session, "hi")
        assert "LOADED" in editor.stderr
