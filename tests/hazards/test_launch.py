"""G: however an editor starts the agent it works, or says why not; and settings count as on the command line."""

import subprocess
import sys

import pytest

from hermes_acp import AIAgent
from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import AgentError, Editor, agent_command, agent_env, choose

BARE = ("HERMES_ACP_PROVIDER", "HERMES_ACP_MODEL", "HERMES_ACP_BASE_URL", "HERMES_ACP_API_KEY", "HERMES_ACP_SANDBOX")
KEY = "sk-test-0123456789"


def results(request):
    return [str(message["content"]) for message in request.messages if message["role"] == "tool"]


@pytest.mark.parametrize(
    "more", [{"PATH": "/usr/bin:/bin", "HOME": ""}, {"PATH": "/usr/bin:/bin"}, {}], ids=["home", "no home", "nothing"]
)
async def test_g1_the_environment_of_a_graphical_editor_is_enough(model, project, tmp_path, more):
    """No SHELL, TERM or USER: the search that came with the package works, commands do, what is missing is named."""
    (project / "a.txt").write_text("needle\n")
    full = agent_env(tmp_path, model.url)
    env = {name: full[name] for name in BARE} | more | ({"HOME": str(tmp_path)} if "HOME" in more else {})
    calls = [
        Call("search_files", {"pattern": "needle"}),
        Call("terminal", {"command": "git --version && echo ran"}),
        Call("terminal", {"command": "no-such-node --version"}),
        Call("write_file", {"path": "b.txt", "content": "x"}),
    ]
    model.say(Say(calls=calls), "Done.")
    editor = await Editor.start(agent_command(), env=env, cwd=tmp_path)
    try:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("allow_once")
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
        editor.assert_clean()
    finally:
        await editor.kill()
    found, ran, missing, _ = results(model.requests[-1])
    assert "a.txt" in found
    assert "ran" in ran
    assert "no-such-node" in missing
    assert "not found" in missing
    assert (project / "b.txt").read_text() == "x"
    assert "Traceback" not in editor.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[model\n", "not valid TOML"),
        ("model: yaml\n", "not valid TOML"),
        ("[model]\nnmae = 'x'\n", "did you mean model.name?"),
        ("[agent]\nmax_turns = 'many'\n", "agent.max_turns"),
        ("[model]\nprovider = 'nobody'\nname = 'x'\n", "nobody"),
    ],
)
async def test_g2_a_setting_that_is_wrong_is_named_when_a_session_is_asked_for(tmp_path, project, text, reason):
    (tmp_path / "hermes-acp").mkdir()
    (tmp_path / "hermes-acp" / "config.toml").write_text(text)
    editor = await Editor.start(agent_command(), env=agent_env(tmp_path))
    try:
        assert (await editor.initialize())["protocolVersion"] == 1
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        said = f"{error.value} {error.value.data}"
        assert reason in said
        assert "\n" not in str(error.value)
        editor.assert_clean()
    finally:
        await editor.kill()


async def test_g2_a_model_that_is_not_there_is_named_on_the_prompt(editor, model, project):
    model.say(fail(404, "The model fake-model does not exist"))
    with pytest.raises(AgentError, match="fake-model does not exist"):
        await editor.prompt(await editor.new_session(project), "hi")


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["--model"], ["no-such-command"]])
def test_g2_a_wrong_command_line_ends_with_one_clear_line(tmp_path, arguments):
    argv = [sys.executable, "-m", "hermes_acp", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, env=agent_env(tmp_path), stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 2
    assert arguments[-1].lstrip("-") in done.stderr
    assert "Traceback" not in done.stderr


CONFIG = """
[model]
provider = "custom"
name = "primary"
base_url = "{url}"
api_key_env = "MY_KEY"
context_window = 50000
[approvals]
mode = "accept_edits"
[[approvals.rules]]
decision = "allow"
prefix = ["touch"]
[[approvals.rules]]
decision = "deny"
prefix = ["mkdir"]
[agent]
max_turns = 3
auto_title = false
[sandbox]
use = "never"
[[fallback_providers]]
provider = "custom"
model = "reserve"
base_url = "{url}"
api_key_env = "MY_KEY"
"""

CALLS = (
    Call("write_file", {"path": "written", "content": "x"}),
    Call("terminal", {"command": "touch allowed"}),
    Call("terminal", {"command": "mkdir denied"}),
)


def script(model):
    """The first model is not there; the reserve calls tools until the calls of the turn are used up."""
    model.say(fail(401, "no such key"), *(Say(calls=[call]) for call in CALLS), "The budget is used up.")


async def test_g3_the_settings_file_counts_the_same_in_an_editor_and_in_a_program(model, tmp_path, monkeypatch):
    """Mode, rules, reserves and limits, by what is asked of the model and what stands on the disk."""
    home = tmp_path / "home"
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text(CONFIG.format(url=model.url))
    told = {}
    for face in ("editor", "program"):
        folder = tmp_path / face
        folder.mkdir()
        script(model)
        begun = len(model.requests)
        if face == "editor":
            env = {**agent_env(home), "MY_KEY": KEY}
            del env["HERMES_ACP_SANDBOX"]
            editor = await Editor.start(agent_command(), env=env)
            try:
                await editor.initialize()
                asked = []
                editor.handlers["session/request_permission"] = lambda params, asked=asked: asked.append(params) or {}
                assert await editor.prompt(await editor.new_session(folder), "go") == "max_turn_requests"
                assert asked == []
            finally:
                await editor.kill()
        else:
            for name, value in {**agent_env(home), "MY_KEY": KEY}.items():
                monkeypatch.setenv(name, value)
            monkeypatch.delenv("HERMES_ACP_SANDBOX")
            async with AIAgent(cwd=str(folder)) as agent:
                assert (await agent.arun_conversation("go"))["stop_reason"] == "max_turn_requests"
        assert sorted(path.name for path in folder.iterdir()) == ["allowed", "written"]
        requests = model.requests[begun:]
        told[face] = [
            (
                each.body["model"],
                each.headers["authorization"],
                sorted(each.body),
                each.body.get("tool_choice"),
            )
            for each in requests
        ]
        assert "A rule forbids this" in str(requests[-1].messages)
    assert told["editor"] == told["program"]
    assert [entry[0] for entry in told["editor"]] == ["primary", *["reserve"] * 4]
