"""Lines 61 to 67: options, modes, commands."""

import pytest

from tests.support.editor import AgentError
from tests.support.talk import open_params

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAYS_IN = ("session/new", "session/load", "session/resume", "session/fork")


@pytest.mark.parametrize("method", WAYS_IN)
async def test_61_every_option_has_a_value_among_its_options_on_every_way_in(editor, project, method):
    session = await editor.new_session(project)
    answer = await editor.request(method, open_params(session, project))
    assert [option["id"] for option in answer["configOptions"]] == ["mode", "model"]
    for option in answer["configOptions"]:
        assert option["currentValue"] in [choice["value"] for choice in option["options"]]
    modes = [mode["id"] for mode in answer["modes"]["availableModes"]]
    assert answer["modes"]["currentModeId"] == modes[0] == "ask"


async def test_62_setting_one_option_tells_the_complete_list(editor, project):
    session = await editor.new_session(project)
    request = {"sessionId": session, "configId": "mode", "value": "plan"}
    answer = await editor.request("session/set_config_option", request)
    update = await editor.wait_update(lambda update: update in editor.updates(session, "config_option_update"))
    assert answer["configOptions"] == update["configOptions"]
    assert {option["id"]: option["currentValue"] for option in answer["configOptions"]} == {
        "mode": "plan",
        "model": "fake-model",
    }


async def test_63_an_editor_that_takes_no_boolean_options_is_sent_none(editor, project):
    answer = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
    assert {option["type"] for option in answer["configOptions"]} == {"select"}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/set_mode", {"modeId": "accept_edits"}),
        ("session/set_config_option", {"configId": "mode", "value": "accept_edits"}),
        ("session/prompt", {"prompt": [{"type": "text", "text": "/mode accept_edits"}]}),
    ],
)
async def test_64_modes_and_the_option_stay_in_step_and_both_are_announced(editor, project, method, params):
    session = await editor.new_session(project)
    await editor.request(method, {"sessionId": session, **params})
    await editor.request("session/list")
    [mode] = editor.updates(session, "current_mode_update")
    [options] = editor.updates(session, "config_option_update")
    assert mode["currentModeId"] == options["configOptions"][0]["currentValue"] == "accept_edits"
    await editor.request("session/close", {"sessionId": session})
    loaded = await editor.request("session/load", open_params(session, project))
    assert loaded["modes"]["currentModeId"] == loaded["configOptions"][0]["currentValue"] == "accept_edits"


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("session/set_mode", {"modeId": "yolo"}, "modeId"),
        ("session/set_mode", {"modeId": ""}, "modeId"),
        ("session/set_config_option", {"configId": "mode", "value": "yolo"}, "value"),
        ("session/set_config_option", {"configId": "model", "value": "other"}, "value"),
        ("session/set_config_option", {"configId": "nothing", "value": "x"}, "configId"),
        ("session/set_config_option", {"configId": "mode", "type": "boolean", "value": True}, "value"),
        ("session/set_config_option", {"configId": "mode", "value": ["ask"]}, "value"),
        ("session/set_config_option", {"configId": "mode", "value": None}, "value"),
    ],
)
async def test_65_an_unknown_mode_option_or_value_is_refused(editor, project, method, params, field):
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.request(method, {"sessionId": session, **params})
    assert error.value.code == -32602
    assert field in str(error.value)
    loaded = await editor.request("session/load", open_params(session, project))
    assert loaded["modes"]["currentModeId"] == "ask"


@pytest.mark.parametrize("method", WAYS_IN)
async def test_67_commands_follow_the_answer_of_every_way_in_without_slashes(editor, project, method):
    source = await editor.new_session(project)
    await editor.request("session/close", {"sessionId": source})
    answer = await editor.request(method, open_params(source, project))
    session, answer_id = answer.get("sessionId", source), editor.last_id
    await editor.request("session/list")
    [command_line] = [
        index
        for index, line in enumerate(editor.lines)
        if line.get("method") == "session/update"
        and line["params"]["sessionId"] == session
        and line["params"]["update"]["sessionUpdate"] == "available_commands_update"
        and index > [each.get("id") for each in editor.lines].index(answer_id)
    ]
    commands = editor.lines[command_line]["params"]["update"]["availableCommands"]
    assert {"help", "stop"} <= {command["name"] for command in commands}
    assert not [command for command in commands if "/" in command["name"] or not command["description"]]
