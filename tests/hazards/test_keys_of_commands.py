"""The model's key under a name of the person's own: commands see it neither in their environment nor in ours."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import Editor, agent_command, agent_env, choose

pytestmark = pytest.mark.slow

KEY = "canary-987654321"
LOOK = "env; tr '\\0' '\\n' < /proc/$PPID/environ"


async def test_the_variable_named_in_api_key_env_is_kept_from_commands(model, project, tmp_path):
    home = tmp_path / "home"
    env = agent_env(home, model.url, MY_LLM_CREDENTIAL=KEY)
    del env["HERMES_ACP_API_KEY"]
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text('[model]\napi_key_env = "MY_LLM_CREDENTIAL"\n')
    model.say(Say(calls=[Call("terminal", {"command": LOOK})]), "Done.")
    editor = await Editor.start(agent_command(), env=env)
    try:
        await editor.initialize()
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
    finally:
        await editor.kill()
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    result = str(model.requests[-1].messages[-1]["content"])
    assert "HERMES_ACP_BASE_URL=" in result
    assert KEY not in result


async def test_a_key_that_a_tool_comes_upon_reaches_no_model_card_or_store(model, project, tmp_path):
    """In a file, in the output of a command while it runs, in an environment that is not ours."""
    home, other = tmp_path / "home", "tok-98765432109876543210"
    env = agent_env(home, model.url, SOME_SERVICE_TOKEN=other, HERMES_ACP_API_KEY=KEY)
    (project / "notes.txt").write_text(f"the key is {KEY}, the other {other}\n")
    calls = [
        Call("read_file", {"path": "notes.txt"}),
        Call("terminal", {"command": "cat notes.txt; sleep 0.3; exit 3"}),
    ]
    model.say(Say(calls=[*calls, Call("search_files", {"pattern": "the key"})]), "Done.")
    editor = await Editor.start(agent_command(), env=env)
    try:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("allow_once")
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert await editor.close() == 0
    finally:
        await editor.kill()
    results = str(model.requests[-1].messages[-3:])
    assert results.count("the key is [key], the other [key]") == 3
    stored = b"".join(path.read_bytes() for path in (home / "hermes-acp").glob("sessions.db*"))
    for secret in (KEY, other):
        assert secret not in str(model.requests[-1].messages)
        assert secret not in str(editor.lines)
        assert secret.encode() not in stored
    assert (project / "notes.txt").read_text() == f"the key is {KEY}, the other {other}\n"
