"""Z: what servers were given in confidence stays so, and a project's own start by consent alone."""

import asyncio
import json
import os
import signal
import sys

import pytest

from tests.support.editor import AgentError, choose, open_editor
from tests.support.mcp_servers import all_connected, fake, gone, offered, pids, program, put_project_servers


@pytest.mark.slow
async def test_z3_what_was_given_in_confidence_is_in_no_log_and_no_notice(tmp_path, model, project):
    async with open_editor(tmp_path / "home", model.url, arguments=["--log-level", "debug"]) as editor:
        await editor.initialize()
        leaks = program("leaks", "/bin/sh", "-c", 'echo "token is $GITHUB_TOKEN" >&2; exit 1')
        leaks["env"] = [{"name": "GITHUB_TOKEN", "value": "ghp_x"}]
        session = await editor.new_session(project, mcpServers=[leaks])
        async with asyncio.timeout(60):
            while "leaks is not connected" not in editor.text(session):
                await editor.prompt(session, "hi")
        assert "token is ***" in editor.text(session)
        assert "ghp_x" not in json.dumps(editor.lines)
        assert "token is ***" in editor.stderr
        assert "ghp_x" not in editor.stderr


@pytest.mark.slow
async def test_z4_a_projects_files_start_no_server_without_a_yes(tmp_path, model, project):
    file = tmp_path / "pids"
    put_project_servers(project, fake("evil", "--pid", file))
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("reject_once")
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        assert not any(name.startswith("mcp__") for name in offered(model.requests[0]))
        (project / ".hermes-acp.toml").write_text(f"[mcp_servers.evil]\ncommand = '{sys.executable}'\n")
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert "a project's file may only set" in str(error.value)
    assert pids(file) == []


async def test_z4_a_projects_server_runs_as_it_was_agreed_to_and_a_change_asks_again(tmp_path, model, project):
    """In a later session it starts unasked, by the same bytes; a program of the project's own counts among them."""
    asked, decisions = [], ["allow_always"]
    file, script = tmp_path / "pids", project / "serve.py"
    script.write_text("from tests.fakes.mcp_server import main\n\nmain()\n")
    server = fake("own", "--pid", file)
    put_project_servers(project, {**server, "args": ["serve.py", *server["args"][2:]]})
    for _ in range(2):
        async with open_editor(tmp_path / "home", model.url) as editor:
            editor.handlers["session/request_permission"] = lambda params: (
                asked.append(params) or choose(decisions[-1])(params)
            )
            await editor.initialize()
            session = await editor.new_session(project)
            await editor.prompt(session, "hi")
            await all_connected(editor, session, "own")
            await editor.prompt(session, "hi")
            assert "mcp__own__probe_tool" in offered(model.requests[-1])
            assert len(asked) == 1
    assert '"serve.py"' in asked[0]["toolCall"]["content"][0]["content"]["text"]
    decisions.append("reject_once")
    async with open_editor(tmp_path / "home", model.url) as editor:
        editor.handlers["session/request_permission"] = lambda params: (
            asked.append(params) or choose(decisions[-1])(params)
        )
        await editor.initialize()
        session = await editor.new_session(project)
        await all_connected(editor, session, "own")
        script.write_text("open('changed', 'w')\n")
        await editor.prompt(session, "hi")
        assert len(asked) == 2
        assert "mcp__own__probe_tool" not in offered(model.requests[-1])
        assert await gone(pids(file))
    assert not (project / "changed").exists()


@pytest.mark.slow
async def test_z4_a_server_that_has_ended_is_not_started_again_with_another_program(tmp_path, model, project):
    """Without a prompt in between: what the model's own command changed runs no sooner than it was asked about."""
    file, script = tmp_path / "pids", project / "serve.py"
    script.write_text("from tests.fakes.mcp_server import main\n\nmain()\n")
    server = fake("own", "--pid", file)
    put_project_servers(project, {**server, "args": ["serve.py", *server["args"][2:]]})
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        await all_connected(editor, session, "own")
        script.write_text("open('changed', 'w')\n")
        os.kill(pids(file)[0], signal.SIGKILL)
        assert await gone(pids(file))
        async with asyncio.timeout(20):
            while "The project has changed what it says of it" not in editor.text(session):
                await editor.prompt(session, "/mcp")
                await asyncio.sleep(0.1)
    assert not (project / "changed").exists()
