"""Z: no key is left anywhere: what the editor is told, the log, the store, trajectories, what a program prints."""

import json
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import AgentError, choose, open_editor

pytestmark = pytest.mark.slow

KEY = "sk-test-SECRET123456"
TOKEN = "ghp_SECRET0123456789abcdef"


async def test_z3_a_key_that_everybody_repeats_is_in_nothing_that_is_told_or_kept(tmp_path, model, project):
    """The provider quotes it, a server prints its token, a command and a file hold it, and the log says all it can."""
    home = tmp_path / "home"
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text("[trajectories]\nsave = true\n")
    (project / "notes.txt").write_text(f"key={KEY}\n")
    leaks = {
        "name": "leaks",
        "command": "/bin/sh",
        "args": ["-c", 'echo "token is $GITHUB_TOKEN" >&2; exit 1'],
        "env": [{"name": "GITHUB_TOKEN", "value": TOKEN}],
    }
    log = tmp_path / "debug.log"
    arguments = ["--log-level", "debug", "--log-file", str(log)]
    async with open_editor(home, model.url, arguments=arguments, HERMES_ACP_API_KEY=KEY) as editor:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("allow_once")
        session = await editor.new_session(project, mcpServers=[leaks])
        model.say(fail(401, f"Incorrect API key provided: {KEY}"))
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "hi")
        assert "Incorrect API key provided" in f"{error.value} {error.value.data}"
        calls = [
            Call("read_file", {"path": "notes.txt"}),
            Call("terminal", {"command": "cat notes.txt; env; tr '\\0' '\\n' </proc/$PPID/environ"}),
            Call("search_files", {"pattern": "key="}),
        ]
        model.say(Say(calls=calls), "Done.")
        assert await editor.prompt(session, "look") == "end_turn"
        said = json.dumps(editor.lines) + editor.stderr
        await editor.close()
    told = {"the editor": said, "the model": str([request.body for request in model.requests])}
    kept = {str(path): path.read_bytes() for path in (*home.rglob("*"), log) if path.is_file()}
    assert any(name.endswith(".jsonl") for name in kept)
    assert any(name.endswith(".db") for name in kept)
    assert log.stat().st_size > 0
    for secret in (KEY, TOKEN):
        assert [name for name, text in told.items() if secret in text] == []
        assert [name for name, data in kept.items() if secret.encode() in data] == []
    assert Path(project, "notes.txt").read_text() == f"key={KEY}\n"
