"""N: the tools of MCP servers reach the model, and their calls the servers."""

import asyncio
import json
import sys

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import ROOT, choose, open_editor
from tests.support.mcp_servers import CLOSING_SECONDS, PROBE, all_connected, fake, offered, opened, pids, results
from tests.support.processes import lives, until


async def test_n1_the_first_request_has_the_servers_tools_and_a_call_reaches_it(editor, model, project, tmp_path):
    note = tmp_path / "note"
    session = await opened(editor, project, fake("fake", "--note", note))
    asked = []
    editor.handlers["session/request_permission"] = lambda params: asked.append(params) or choose("allow_once")(params)
    model.say(Say(calls=[Call(PROBE, {"text": "hello", "times": 2})]), "Done.")
    assert await editor.prompt(session, "probe") == "end_turn"
    assert PROBE in offered(model.requests[0])
    assert results(model.requests[1]) == ["hello hello"]
    assert json.loads(note.read_text()) == {"tool": "probe_tool", "text": "hello", "times": 2}
    [question] = asked
    assert question["toolCall"]["title"] == "fake: probe_tool"
    assert question["toolCall"]["rawInput"] == {"text": "hello", "times": 2}
    assert '"times": 2' in question["toolCall"]["content"][0]["content"]["text"]
    [card] = editor.updates(session, "tool_call")
    assert (card["title"], card["kind"]) == ("fake: probe_tool", "other")
    assert editor.updates(session, "tool_call_update")[-1]["status"] == "completed"
    assert "not connected" not in editor.text(session)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork"])
async def test_n1_the_tools_are_there_after_load_resume_and_fork(tmp_path, model, project, method):
    async with open_editor(tmp_path / "home", model.url) as first:
        await first.initialize()
        session = await first.new_session(project)
        await first.prompt(session, "hi")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        place = {"sessionId": session, "cwd": str(project), "mcpServers": [fake()]}
        answer = await editor.request(method, place)
        opened_as = await all_connected(editor, answer.get("sessionId", session), "fake")
        await editor.prompt(opened_as, "again")
    assert PROBE not in offered(model.requests[0])
    assert PROBE in offered(model.requests[1])


@pytest.mark.slow
async def test_n1_loading_an_open_session_again_changes_its_servers(editor, model, project, tmp_path):
    file = tmp_path / "pids"
    session = await opened(editor, project, fake("old", "--pid", file), fake("kept", "--pid", file))
    place = {"sessionId": session, "cwd": str(project)}
    await editor.request("session/load", {**place, "mcpServers": [fake("kept", "--pid", file), fake("new")]})
    await all_connected(editor, session, "kept", "new")
    await editor.prompt(session, "hi again")
    assert {"mcp__kept__probe_tool", "mcp__new__probe_tool"} <= offered(model.requests[0])
    assert "mcp__old__probe_tool" not in offered(model.requests[0])
    assert await asyncio.to_thread(until, lambda: sum(map(lives, pids(file))) == 1, CLOSING_SECONDS)


@pytest.mark.slow
async def test_the_persons_own_servers_are_there_and_the_editors_go_before_them(tmp_path, model, project):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    own = {"command": sys.executable, "args": ["-m", "tests.fakes.mcp_server"]}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())
    table += f"env = {{ PYTHONPATH = {json.dumps(str(ROOT))}, WHOSE = 'mine' }}\n"
    (home / "config.toml").write_text(
        f"[mcp_servers.fake]\n{table}"
        f"[mcp_servers.mine]\n{table}tools = ['look']\ninherit = ['PASSED_KEY']\n"
        f"[mcp_servers.off]\n{table}enabled = false\n"
    )
    async with open_editor(tmp_path / "home", model.url, PASSED_KEY="handed on") as editor:
        await editor.initialize()
        model.say(
            Say(
                calls=[
                    Call("mcp__fake__look", {"name": "WHOSE"}),
                    Call("mcp__mine__look", {"name": "WHOSE"}),
                    Call("mcp__mine__look", {"name": "PASSED_KEY"}),
                ]
            ),
            "Done.",
        )
        session = await opened(editor, project, fake(WHOSE="the editor's"))
        await all_connected(editor, session, "mine")
        await editor.prompt(session, "look")
        assert results(model.requests[1]) == ["the editor's", "mine", "handed on"]
        names = offered(model.requests[0])
        assert {name for name in names if "__mine__" in name} == {"mcp__mine__look"}
        assert not any("__off__" in name for name in names)
        assert "  - `mcp__mine__look`: Tells an environment" in editor.text(session)


@pytest.mark.slow
async def test_a_tool_that_appears_is_offered_from_the_next_prompt_on(editor, model, project):
    session = await opened(editor, project, fake())
    model.say(Say(calls=[Call("mcp__fake__grow", {})]), "Done.")
    await editor.prompt(session, "grow")
    assert "mcp__fake__grown" not in offered(model.requests[1])
    model.say(Say(calls=[Call("mcp__fake__grown", {})]), "Done.")
    await editor.prompt(session, "use it")
    assert "mcp__fake__grown" in offered(model.requests[2])
    assert results(model.requests[3])[-1] == "grown"


@pytest.mark.slow
async def test_what_a_server_may_ask_is_answered_or_declined(editor, model, project, tmp_path):
    other = tmp_path / "other folder"
    other.mkdir()
    model.say(Say(calls=[Call("mcp__fake__folders", {}), Call("mcp__fake__ask_back", {})]), "Done.")
    session = await opened(editor, project, fake(), additionalDirectories=[str(other)])
    await editor.prompt(session, "ask")
    folders, declined = results(model.requests[1])
    assert folders == f"{project.as_uri()} {other.as_uri()}"
    assert declined.startswith("declined")


@pytest.mark.slow
async def test_results_of_all_kinds_reach_the_model(editor, model, project):
    calls = [Call("mcp__fake__picture", {}), Call("mcp__fake__fail", {}), Call("mcp__fake__big", {})]
    model.say(Say(calls=calls), "Done.")
    session = await opened(editor, project, fake())
    await editor.prompt(session, "show")
    picture, failed, big = results(model.requests[1])
    assert "Here it is." in picture
    assert "[more](https://example.org/more)" in picture
    assert "[memo://1]\na memo" in picture
    assert "image/png;base64" in json.dumps(model.requests[1].messages)
    assert "this is how it fails" in failed
    assert len(big) < 40_000
    assert "left out" in big
    assert big.endswith("end")
    statuses = [update["status"] for update in editor.updates(session, "tool_call_update") if "rawOutput" in update]
    assert sorted(statuses) == ["completed", "completed", "failed"]


@pytest.mark.slow
async def test_always_covers_one_tool_of_one_server_and_a_rejection_too(editor, model, project):
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["title"])
        return choose("reject_once" if "where" in asked[-1] else "allow_always")(params)

    editor.handlers["session/request_permission"] = answer
    turns = [[Call(PROBE, {"text": "a"}), Call(PROBE, {"text": "b"}), Call("mcp__fake__look", {"name": "HOME"})]]
    turns += [[Call("mcp__fake__where", {})], [Call("mcp__fake__where", {}), Call("mcp__fake__look", {"name": "PATH"})]]
    model.say(*(Say(calls=calls) for calls in turns), "Done.")
    session = await opened(editor, project, fake())
    await editor.prompt(session, "go")
    assert asked == ["fake: probe_tool", "fake: look", "fake: where"]
    assert "rejected" in results(model.requests[-1])[4]


async def test_a7_plan_mode_offers_only_what_is_said_to_change_nothing(editor, model, project):
    session = await opened(editor, project, fake())
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    model.say(Say(calls=[Call("mcp__fake__look", {"name": "HOME"}), Call(PROBE, {"text": "x"})]), "Done.")
    await editor.prompt(session, "look")
    assert {name for name in offered(model.requests[0]) if name.startswith("mcp__")} == {"mcp__fake__look"}
    looked, probed = results(model.requests[1])
    assert looked.endswith("home")
    assert "plan mode" in probed
