"""Lines 13 to 22: initialize and authentication."""

import re

import pytest

from tests.support.editor import AgentError, Editor, agent_command, agent_env, open_editor
from tests.support.talk import open_params, prompt_params

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("first", [0, 1, 2, 99, 65535])
async def test_13_any_version_is_answered_with_ours_and_never_refused(raw_editor, first):
    raw_editor.send({"jsonrpc": "2.0", "id": f"v{first}", "method": "initialize", "params": {"protocolVersion": first}})
    answer = await raw_editor.wait_line(lambda line: line.get("id") == f"v{first}")
    assert answer["result"]["protocolVersion"] == 1


async def test_13_a_first_line_of_a_later_version_is_answered_too(tmp_path):
    editor = await Editor.start(agent_command(), env=agent_env(tmp_path))
    assert (await editor.request("initialize", {"protocolVersion": 99}))["protocolVersion"] == 1
    assert await editor.close() == 0
    await editor.kill()


async def test_14_and_15_the_answer_tells_capabilities_name_and_version(editor):
    hello = await editor.initialize()
    assert hello["agentCapabilities"]["loadSession"] is True
    assert hello["agentInfo"]["name"] == "hermes-acp"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", hello["agentInfo"]["version"])


async def test_17_everything_advertised_works(editor, model, project, tmp_path):
    """Each capability by a call of what it stands for; the account's logout has an agent of its own below."""
    hello = await editor.initialize()
    capabilities = hello["agentCapabilities"]
    more = tmp_path / "more"
    more.mkdir()
    session = await editor.new_session(project, additionalDirectories=[str(more)])
    embedded = {"type": "resource", "resource": {"uri": "file:///x/y.py", "text": "print(1)"}}
    await editor.request("session/prompt", prompt_params(session, "see", embedded))
    assert "print(1)" in str(model.requests[0].messages)
    assert capabilities["promptCapabilities"]["embeddedContext"] is True
    opened = open_params(session, project)
    work = {
        "list": ("session/list", {}),
        "fork": ("session/fork", opened),
        "resume": ("session/resume", opened),
        "close": ("session/close", {"sessionId": session}),
        "delete": ("session/delete", {"sessionId": session}),
    }
    assert set(capabilities["sessionCapabilities"]) == {*work, "additionalDirectories"}
    await editor.request("session/load", opened)
    for method, params in work.values():
        await editor.request(method, params)


async def test_17_what_a_newer_client_sends_is_understood(model, project, tmp_path):
    """Version 2 names its fields `info` and `capabilities`."""
    notices = {"session": {"notices": {}}, "auth": {"terminal": {}}}
    async with open_editor(tmp_path / "home", model.url) as editor:
        said = {"protocolVersion": 2, "capabilities": notices, "info": {"name": "next", "version": "3"}}
        hello = await editor.request("initialize", said)
        assert [method["id"] for method in hello["authMethods"]] == ["credentials", "setup"]
        server = {"name": "files", "command": "/no/such/program", "args": [], "env": []}
        session = (await editor.request("session/new", {"cwd": str(project), "mcpServers": [server]}))["sessionId"]
        await editor.prompt(session, "hi")
        assert editor.updates(session, "notice")


@pytest.mark.parametrize(
    ("auth", "offered"),
    [
        ({"terminal": True}, True),
        ({"terminal": False}, False),
        ({"terminal": "true"}, False),
        ({"terminal": 1}, False),
        ({"terminal": None}, False),
        ({}, False),
        (None, False),
        ([], False),
    ],
)
async def test_18_the_terminal_method_is_there_only_when_it_can_be_run(raw_editor, auth, offered):
    id_ = f"auth {auth!r}"
    params = {"protocolVersion": 1, "clientCapabilities": {"auth": auth}}
    raw_editor.send({"jsonrpc": "2.0", "id": id_, "method": "initialize", "params": params})
    methods = (await raw_editor.wait_line(lambda line: line.get("id") == id_))["result"]["authMethods"]
    kinds = [method.get("type", "agent") for method in methods]
    assert kinds == ["agent", "terminal"][: 1 + offered]
    if offered:
        assert methods[1]["args"] == ["setup"]


async def test_20_after_authenticate_a_session_is_not_refused(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url) as editor:
        hello = await editor.initialize()
        await editor.request("logout")
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32000
        assert await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]}) == {}
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"


async def test_22_after_a_logout_no_way_into_a_session_uses_the_keys_of_the_environment(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.request("logout") == {}
        await editor.request("session/close", {"sessionId": session})
        for method in ("session/new", "session/load", "session/resume", "session/fork"):
            with pytest.raises(AgentError) as error:
                await editor.request(method, open_params(session, project))
            assert error.value.code == -32000, method
        assert model.requests == []
