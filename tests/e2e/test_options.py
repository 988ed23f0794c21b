"""Modes, options, commands and the account, over the wire."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor

pytestmark = pytest.mark.slow


async def test_new_session_tells_modes_and_options_in_step(editor, project):
    result = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
    modes = {mode["id"] for mode in result["modes"]["availableModes"]}
    options = {option["id"]: option for option in result["configOptions"]}
    assert modes == {choice["value"] for choice in options["mode"]["options"]} == {"ask", "accept_edits", "plan"}
    for option in options.values():
        assert option["currentValue"] in {choice["value"] for choice in option["options"]}


async def test_the_answer_comes_before_any_update_of_the_session(editor, project):
    session = await editor.new_session(project)
    update = await editor.wait_update(lambda update: update["sessionUpdate"] == "available_commands_update")
    names = {command["name"] for command in update["availableCommands"]}
    assert names >= {"help", "model", "mode", "tools", "memory", "mcp", "stop"}
    first = next(
        index for index, line in enumerate(editor.lines) if (line.get("params") or {}).get("sessionId") == session
    )
    answer = next(index for index, line in enumerate(editor.lines) if "sessionId" in (line.get("result") or {}))
    assert answer < first


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/set_mode", {"modeId": "plan"}),
        ("session/set_config_option", {"configId": "mode", "value": "plan"}),
    ],
)
async def test_both_ways_to_set_the_mode_announce_both_forms(editor, model, project, method, params):
    session = await editor.new_session(project)
    await editor.request(method, {"sessionId": session, **params})
    await editor.wait_update(lambda update: update.get("currentModeId") == "plan")
    update = await editor.wait_update(lambda update: update["sessionUpdate"] == "config_option_update")
    assert {option["id"]: option["currentValue"] for option in update["configOptions"]}["mode"] == "plan"
    await editor.prompt(session, "hi")
    offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
    assert {"read_file", "list_files", "search_files", "process"} <= offered
    assert not offered & {"write_file", "patch", "terminal"}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/set_mode", {"modeId": "yolo"}),
        ("session/set_config_option", {"configId": "mode", "value": "yolo"}),
        ("session/set_config_option", {"configId": "model", "value": "other"}),
        ("session/set_config_option", {"configId": "nothing", "value": "x"}),
        ("session/set_config_option", {"configId": "mode", "type": "boolean", "value": True}),
    ],
)
async def test_unknown_modes_options_and_values_are_refused(editor, project, method, params):
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.request(method, {"sessionId": session, **params})
    assert error.value.code == -32602


async def test_accept_edits_asks_for_commands_and_for_files_outside(editor, model, project, tmp_path):
    outside = tmp_path / "outside.txt"
    model.say(
        Say(calls=[Call("write_file", {"path": "in.txt", "content": "x\n"})]),
        Say(calls=[Call("write_file", {"path": str(outside), "content": "x\n"})]),
        Say(calls=[Call("write_file", {"path": ".env", "content": "x\n"})]),
        Say(calls=[Call("write_file", {"path": ".git/hooks/post-commit", "content": "x\n"})]),
        Say(calls=[Call("terminal", {"command": "exit 0"})]),
        "Done.",
    )
    asked = []
    allow = editor.handlers["session/request_permission"]

    def answer(params):
        asked.append(params["toolCall"]["title"])
        return allow(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.prompt(session, "go")
    assert (project / "in.txt").exists()
    assert len(asked) == 4


async def test_a_mode_set_in_mid_turn_holds_at_once(editor, model, project):
    model.say(
        Say(calls=[Call("write_file", {"path": "a", "content": "x"})]),
        Say(calls=[Call("write_file", {"path": "b", "content": "x"})]),
        "Done.",
    )
    allow = editor.handlers["session/request_permission"]

    async def answer(params):
        await editor.request("session/set_mode", {"sessionId": params["sessionId"], "modeId": "plan"})
        return allow(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    assert list(project.iterdir()) == []


async def test_commands_are_answered_without_the_model(editor, model, project):
    session = await editor.new_session(project)
    for command, expected in (
        ("/help", "/mode"),
        ("/tools", "read_file"),
        ("/mode", "ask"),
        ("/mode plan", "plan"),
        ("/mode nonsense", "no mode"),
        ("/model", "fake-model"),
        ("/stop", "Stopped"),
    ):
        before = len(editor.text(session))
        assert await editor.prompt(session, command) == "end_turn"
        assert expected in editor.text(session)[before:]
    assert model.requests == []


async def test_a_command_after_other_blocks_and_spaces_is_still_one(editor, model, project):
    session = await editor.new_session(project)
    prompt = [
        {"type": "resource_link", "name": "x", "uri": "file:///x"},
        {"type": "text", "text": "  /help"},
    ]
    await editor.request("session/prompt", {"sessionId": session, "prompt": prompt})
    assert model.requests == []


@pytest.mark.parametrize("text", ["/home/me/app.py fails, why?", "/unknowncmd hi", "/ hello"])
async def test_unknown_slashes_go_to_the_model(editor, model, project, text):
    session = await editor.new_session(project)
    await editor.prompt(session, text)
    assert model.requests[0].messages[-1]["content"] == text


async def test_nothing_configured_is_auth_required_with_a_hint_and_authenticate_says_so_too(tmp_path, project):
    async with open_editor(tmp_path / "home") as editor:
        hello = await editor.initialize()
        [method] = hello["authMethods"]
        for request in (
            ("session/new", {"cwd": str(project), "mcpServers": []}),
            ("authenticate", {"methodId": method["id"]}),
        ):
            with pytest.raises(AgentError) as error:
                await editor.request(*request)
            assert error.value.code == -32000
            assert "setup" in str(error.value)


async def test_a_key_that_appears_later_is_found_by_authenticate(tmp_path, project, model):
    async with open_editor(tmp_path / "home") as editor:
        hello = await editor.initialize()
        config = tmp_path / "home" / "hermes-acp" / "config.toml"
        with pytest.raises(AgentError):
            await editor.new_session(project)
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[model]\nprovider = "custom"\nname = "m"\nbase_url = "{model.url}"\n')
        assert await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]}) == {}
        session = await editor.new_session(project)
        assert await editor.prompt(session, "hi") == "end_turn"


async def test_unknown_and_terminal_methods_cannot_be_used_to_authenticate(editor):
    for method in ("nonsense", "setup"):
        with pytest.raises(AgentError) as error:
            await editor.request("authenticate", {"methodId": method})
        assert error.value.code == -32602


async def test_a_logout_lasts_over_a_restart_until_authenticate(editor, model, project, tmp_path):
    hello = await editor.initialize()
    assert await editor.request("logout") == {}
    with pytest.raises(AgentError) as error:
        await editor.new_session(project)
    assert error.value.code == -32000
    assert "authenticate in the editor, or run `hermes-acp-agent setup`" in error.value.message
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        with pytest.raises(AgentError):
            await second.new_session(project)
        await second.request("authenticate", {"methodId": hello["authMethods"][0]["id"]})
        session = await second.new_session(project)
        assert await second.prompt(session, "hi") == "end_turn"


async def test_a_logout_that_comes_with_an_authenticate_is_the_last_word_and_fails_nothing(editor, project):
    session = await editor.new_session(project)
    both = editor.begin("authenticate", {"methodId": "credentials"}), editor.begin("logout")
    assert [await answer for answer in both] == [{}, {}]
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32000
    assert "Traceback" not in editor.stderr


async def test_a_wrong_config_is_told_on_new_session_not_on_initialize(tmp_path, project, model):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[agent]\nmax_turns = 'many'\n")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32603
        assert "max_turns" in str(error.value)
        assert "config.toml" in str(error.value)


async def test_status_and_steps_are_told_as_extensions_and_can_be_turned_off(editor, model, project, tmp_path):
    (project / "a").write_text("x\n")
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    steps = [line["params"] for line in editor.lines if line.get("method") == "_hermes/step"]
    assert [(step["apiCalls"], [tool["name"] for tool in step["tools"]]) for step in steps] == [
        (1, ["read_file"]),
        (2, []),
    ]
    kinds = [line["params"]["kind"] for line in editor.lines if line.get("method") == "_hermes/status"]
    assert kinds[-1] == "idle"
    async with open_editor(tmp_path / "home2", model.url, arguments=("--announce", "never")) as quiet:
        await quiet.initialize()
        await quiet.prompt(await quiet.new_session(project), "go")
        assert [line for line in quiet.lines if str(line.get("method")).startswith("_hermes")] == []
