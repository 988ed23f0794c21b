"""The model's key under a name of the person's own: commands see it neither in their environment nor in ours."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import Editor, agent_command, agent_env

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
