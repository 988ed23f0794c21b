"""A turn of an agent that speaks the Messages API, as the editor, the model server and the disk see it."""

import pytest

from tests.fakes.model_server import Call, Say, Status
from tests.support.editor import open_editor
from tests.support.pictures import block, in_base64, plain

MODE = {"HERMES_ACP_API_MODE": "anthropic_messages"}


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url, **MODE) as editor:
        await editor.initialize()
        yield editor


def kinds(message):
    return [part["type"] for part in message["content"]]


async def test_a_turn_thinks_looks_edits_and_answers(editor, model, project):
    (project / "a.txt").write_text("one\n")
    (project / "a.png").write_bytes(plain())
    model.say(
        Say("I look.", [Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "a.png"})], "hm hm"),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})], reasoning="so"),
        Say(["Do", "ne."], usage={"prompt_tokens": 900, "completion_tokens": 9}),
    )
    session = await editor.new_session(project)
    prompt = [{"type": "text", "text": "edit it like this:"}, block(plain(colour="blue"))]
    answer = await editor.request("session/prompt", {"sessionId": session, "prompt": prompt})
    assert answer["stopReason"] == "end_turn"
    assert (project / "a.txt").read_text() == "two\n"
    assert editor.text(session) == "I look.Done."
    assert editor.text(session, "agent_thought_chunk") == "hm hmso"
    ended = [update for update in editor.updates(session) if update.get("status") in ("completed", "failed")]
    assert [update["status"] for update in ended] == ["completed"] * 3
    assert [request.path for request in model.requests] == ["/v1/messages"] * 3
    assert [kinds(message) for message in model.requests[-1].messages] == [
        ["text", "image"],
        ["thinking", "text", "tool_use", "tool_use"],
        ["tool_result", "tool_result"],
        ["thinking", "tool_use"],
        ["tool_result"],
    ]
    shown = model.requests[1].messages[2]["content"][1]["content"][-1]
    assert shown["source"]["data"] == in_base64(plain())
    headers = model.requests[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("sk-test-0123456789", "2023-06-01")


@pytest.mark.slow
async def test_the_system_prompt_is_the_same_in_every_request_and_marked_for_the_cache(editor, model, project):
    session = await editor.new_session(project)
    for words in ("one", "two", "three"):
        assert await editor.prompt(session, words) == "end_turn"
    systems = [request.body["system"] for request in model.requests]
    assert systems[0] == systems[1] == systems[2]
    assert systems[0][0]["cache_control"] == {"type": "ephemeral"}
    marked = ["cache_control" in message["content"][-1] for message in model.requests[-1].messages]
    assert marked == [False, False, True, True, True]


@pytest.mark.slow
async def test_the_models_of_the_server_can_be_chosen(tmp_path, model, project):
    entry = {"type": "model", "created_at": "2026-01-01T00:00:00Z", "display_name": "x", "max_input_tokens": 50_000}
    model.list_answer = Status(200, {"data": [{**entry, "id": name} for name in ("claude-a", "claude-b")]})
    async with open_editor(tmp_path / "home", model.url, **MODE) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.wait_update(lambda update: update["sessionUpdate"] == "config_option_update")
        choice = {"sessionId": session, "configId": "model", "value": "claude-b"}
        await editor.request("session/set_config_option", choice)
        assert await editor.prompt(session, "hi") == "end_turn"
        assert model.requests[-1].body["model"] == "claude-b"
        assert model.requests[-1].body["max_tokens"] == 32_000
        (told,) = {update["size"] for update in editor.updates(session, "usage_update")}
        assert told == 50_000


@pytest.mark.slow
async def test_the_settings_of_the_api_reach_the_server(tmp_path, model, project):
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[model]\nanthropic_version = 2027-01-01\nmax_output = 5000\n")
    async with open_editor(tmp_path / "home", f"{model.url.removesuffix('/v1')}/anthropic") as editor:
        await editor.initialize()
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"
    assert model.requests[0].path == "/anthropic/v1/messages"
    assert model.requests[0].headers["anthropic-version"] == "2027-01-01"
    assert model.requests[0].body["max_tokens"] == 5000
