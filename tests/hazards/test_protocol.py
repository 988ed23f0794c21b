"""I: the first minutes of a connection. Each test is named for the hazard."""

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.model_server import Status, fail
from tests.support.editor import AgentError, Editor, agent_env, open_editor
from tests.support.schema import faults

pytestmark = pytest.mark.slow

shared = pytest.mark.asyncio(loop_scope="session")
KEY = "sk-test-0123456789"


@shared
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (fail(401, f"Incorrect API key provided: {KEY}."), "Incorrect API key"),
        (fail(403, f"The key {KEY} may not use this model."), "may not use"),
        (fail(402, "You have no credits left."), "no credits"),
        (fail(429, "You exceeded your current quota.", code="insufficient_quota", type="insufficient_quota"), "quota"),
        (fail(400, f"bad {KEY}"), "bad"),
        (Status(401, f"<html>{KEY}</html>"), "401"),
    ],
)
async def test_i1_a_failure_of_the_model_is_no_missing_login_and_shows_no_key(
    one_editor, one_model, project, reply, reason
):
    one_model.say(reply)
    session = await one_editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await one_editor.prompt(session, "hi")
    told = json.dumps([error.value.message, error.value.data])
    assert error.value.code == -32603
    assert reason in told
    assert KEY not in told + one_editor.stderr
    assert await one_editor.prompt(session, "again") == "end_turn"


@pytest.mark.slow
async def test_i2_without_credentials_everything_but_a_session_works_and_a_retry_needs_no_restart(
    model, project, tmp_path
):
    async with open_editor(tmp_path / "home") as editor:
        hello = await editor.initialize()
        assert hello["authMethods"]
        began = time.monotonic()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert (error.value.code, time.monotonic() - began < 5) == (-32000, True)
        assert "setup" in error.value.message
        assert await editor.request("session/list") == {"sessions": []}
        with pytest.raises(AgentError) as unknown:
            await editor.prompt("nope", "hi")
        assert unknown.value.code == -32002
        config = tmp_path / "home" / "hermes-acp" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[model]\nprovider = "custom"\nname = "m"\nbase_url = "{model.url}"\n')
        await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]})
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"


def launches(folder: Path) -> dict[str, list[str]]:
    """Ways to start the program: the word it was started by says nothing."""
    script = Path(sys.executable).with_name("hermes-acp")
    folder.mkdir()
    (folder / "Jet Brains AI").symlink_to(script)
    shutil.copy(script, folder / "copied")
    return {
        "a symlink of another name": [str(folder / "Jet Brains AI"), "--stdio"],
        "a copy": [str(folder / "copied"), "--stdio"],
        "the other command": [str(script.with_name("hermes-acp-agent")), "--stdio"],
        "a module": [sys.executable, "-m", "hermes_acp", "--stdio"],
        "no arguments": [str(script)],
        "code": [sys.executable, "-c", "from hermes_acp.__main__ import main; raise SystemExit(main())", "--stdio"],
        "an argv[0] of its own": ["bash", "-c", f'exec -a "x y" "{script}" --stdio'],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a symlink of another name",
        "a copy",
        "the other command",
        "a module",
        "no arguments",
        "code",
        "an argv[0] of its own",
    ],
)
async def test_i3_initialize_does_not_depend_on_how_the_program_was_started(tmp_path, name):
    command = launches(tmp_path / "with spaces (1)")[name]
    editor = await Editor.start(command, env=agent_env(tmp_path / "home"), cwd=tmp_path)
    try:
        capabilities = {"terminal": False, "auth": {"terminal": True}, "_meta": {"terminal-auth": True}}
        hello = await editor.initialize(capabilities)
        login = hello["authMethods"][1]["_meta"]["terminal-auth"]
        assert Path(login["command"]).samefile(sys.executable)
        assert await editor.close() == 0
        editor.assert_clean()
    finally:
        await editor.kill()


@shared
@pytest.mark.parametrize(
    "params",
    [
        {"protocolVersion": 1},
        {"protocolVersion": 1, "clientCapabilities": {}},
        {"protocolVersion": 1, "clientCapabilities": None, "clientInfo": None},
        {"protocolVersion": 0, "clientCapabilities": {"terminal": False, "_meta": {"terminal-auth": True}}},
        {"protocolVersion": 99, "clientCapabilities": {"new": {"a": [1]}}, "unknown": "x", "_meta": None},
        {"protocolVersion": 1, "clientCapabilities": {"fs": [], "terminal": {}, "auth": 5, "_meta": "x"}},
    ],
)
async def test_i3_initialize_is_answered_whatever_the_client_is_like(raw_editor, params):
    hello = await raw_editor.request("initialize", params)
    assert hello["protocolVersion"] == 1
    assert [method["id"] for method in hello["authMethods"]] == ["credentials"]
    assert faults("InitializeResponse", hello) == []


@pytest.mark.slow
async def test_i4_nothing_outside_is_asked_before_initialize_is_answered(model, tmp_path):
    """Proxies and endpoints that never answer: a black hole at every address."""
    holes = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    hole = f"http://127.0.0.1:{holes.sockets[0].getsockname()[1]}"
    env = {"HTTP_PROXY": hole, "HTTPS_PROXY": hole, "ALL_PROXY": hole, "OPENAI_API_KEY": KEY}
    config = tmp_path / "home" / "hermes-acp" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("this is = = not TOML")
    async with open_editor(tmp_path / "home", **env) as editor:
        began = time.monotonic()
        await editor.initialize()
        assert time.monotonic() - began < 3
        assert model.connections == 0
    holes.close()


@shared
@pytest.mark.parametrize(
    ("method", "params"), [("session/set_model", {"modelId": "x"}), ("session/set_title", {"title": "x"})]
)
async def test_i5_what_is_not_advertised_is_not_found(one_editor, project, method, params):
    session = await one_editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await one_editor.request(method, {"sessionId": session, **params})
    assert error.value.code == -32601
