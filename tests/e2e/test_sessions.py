"""Sessions: made, listed, loaded, resumed, closed, deleted, and found again after a kill."""

import asyncio
import signal

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, never, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


def replayed(updates):
    """What a person sees: joined text, final state of each card."""
    seen, cards = [], {}
    for update in updates:
        match update["sessionUpdate"]:
            case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" as kind:
                key = (kind, update["messageId"])
                if seen and seen[-1][:2] == key:
                    seen[-1] = (*key, seen[-1][2] + update["content"]["text"])
                else:
                    seen.append((*key, update["content"]["text"]))
            case "tool_call":
                cards[update["toolCallId"]] = dict(update)
                seen.append(("card", update["toolCallId"]))
            case "tool_call_update":
                cards[update["toolCallId"]].update(update)
    for card in cards.values():
        card.pop("sessionUpdate")
    return seen, cards


async def one_of_everything(editor, model, project):
    (project / "a.txt").write_text("one\n")
    model.say(
        Say(
            reasoning=["thinking"],
            text=["Let me look."],
            calls=[Call("read_file", {"path": "a.txt"}), Call("list_files", {})],
        ),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})]),
        Say(calls=[Call("terminal", {"command": "cat a.txt; false"})]),
        "Done.",
    )
    session = await editor.new_session(project)
    await editor.prompt(session, "do everything")
    return session


async def test_load_replays_what_was_shown_then_answers(editor, model, project, tmp_path):
    session = await one_of_everything(editor, model, project)
    live_text, live_cards = replayed(editor.updates(session))
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        result = await second.request("session/load", open_params(session, project))
        assert result["modes"]["currentModeId"] == "ask"
        answer = next(index for index, line in enumerate(second.lines) if "modes" in (line.get("result") or {}))
        kinds = {
            line["params"]["update"]["sessionUpdate"]
            for line in second.lines[answer + 1 :]
            if line.get("method") == "session/update"
        }
        assert kinds <= {"available_commands_update"}
        text, cards = replayed(second.updates(session))
        assert text[0][0] == "user_message_chunk"
        assert text[0][2] == "do everything"
        assert text[1:] == live_text
        assert cards == live_cards
        model.say("Yes.")
        await second.prompt(session, "still there?")
        assert [message["role"] for message in model.requests[-1].messages].count("tool") == 4


async def test_resume_replays_nothing_and_the_model_has_its_history(editor, model, project, tmp_path):
    session = await one_of_everything(editor, model, project)
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        result = await second.request("session/resume", open_params(session, project))
        assert result["configOptions"]
        await second.prompt(session, "go on")
        shown = [update for update in second.updates(session) if update["sessionUpdate"] == "user_message_chunk"]
        assert shown == []
        assert "do everything" in str(model.requests[-1].messages)


async def test_an_empty_session_is_not_listed_but_loads_after_a_restart(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    assert (await editor.request("session/list"))["sessions"] == []
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        assert await second.prompt(session, "hi") == "end_turn"


async def test_the_list_is_newest_first_filtered_by_folder_and_paged(editor, model, project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    made = []
    for number in range(52):
        session = await editor.new_session(other if number == 3 else project)
        await editor.prompt(session, f"prompt {number}")
        made.append(session)
    page = await editor.request("session/list")
    rest = await editor.request("session/list", {"cursor": page["nextCursor"]})
    assert [row["sessionId"] for row in page["sessions"] + rest["sessions"]] == made[::-1]
    assert "nextCursor" not in rest
    assert page["sessions"][0]["title"] == "prompt 51"
    [row] = (await editor.request("session/list", {"cwd": str(other)}))["sessions"]
    assert row["sessionId"] == made[3]
    with pytest.raises(AgentError) as error:
        await editor.request("session/list", {"cursor": "garbage"})
    assert error.value.code == -32602


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("session/load", {"cwd": "/tmp", "mcpServers": []}),
        ("session/resume", {"cwd": "/tmp", "mcpServers": []}),
        ("session/prompt", {"prompt": [{"type": "text", "text": "hi"}]}),
        ("session/close", {}),
        ("session/set_mode", {"modeId": "ask"}),
        ("session/set_config_option", {"configId": "mode", "value": "ask"}),
    ],
)
async def test_an_unknown_session_is_named_and_never_made(editor, method, more):
    with pytest.raises(AgentError) as error:
        await editor.request(method, {"sessionId": "nope", **more})
    assert error.value.code == -32002
    assert error.value.data == {"sessionId": "nope"}
    assert (await editor.request("session/list"))["sessions"] == []


async def test_delete_is_idempotent_and_takes_the_session_from_the_list(editor, model, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    for _ in range(2):
        assert await editor.request("session/delete", {"sessionId": session}) == {}
    assert (await editor.request("session/list"))["sessions"] == []
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32002


async def test_close_cancels_the_turn_and_the_session_stays_loadable(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    await model.until(lambda server: server.requests)
    close = editor.begin("session/close", {"sessionId": session})
    done = []
    prompt.add_done_callback(lambda _: done.append("prompt"))
    close.add_done_callback(lambda _: done.append("close"))
    await asyncio.gather(prompt, close)
    assert prompt.result()["stopReason"] == "cancelled"
    assert done == ["prompt", "close"]
    with pytest.raises(AgentError):
        await editor.prompt(session, "closed")
    await editor.request("session/load", open_params(session, project))
    assert await editor.prompt(session, "again") == "end_turn"


async def test_load_from_another_folder_is_refused(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.request("session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []})
    assert error.value.code == -32602
    assert "cwd" in str(error.value)


async def restart_after_kill(editor, model, project, tmp_path, session):
    """Kill the agent at once, start another, load the session; what it shows, and proof that it goes on."""
    editor.process.send_signal(signal.SIGKILL)
    await editor.process.wait()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        shown = replayed(second.updates(session))
        model.say("Going on.")
        assert await second.prompt(session, "go on") == "end_turn"
    assert model.problems == []
    return shown


async def test_kill_in_mid_stream_keeps_the_prompt_and_what_was_shown(editor, model, project, tmp_path):
    model.say(Say(text=[f"{n} " for n in range(500)], token_delay=0.01))
    session = await editor.new_session(project)
    editor.begin_prompt(session, "count")
    await editor.wait_update(lambda update: "100 " in update.get("content", {}).get("text", ""))
    text, _ = await restart_after_kill(editor, model, project, tmp_path, session)
    assert text[0][2] == "count"
    assert text[1][2].startswith("0 1 2 ")


async def test_kill_during_a_command_keeps_every_card_that_had_ended(editor, model, project, tmp_path):
    (project / "a.txt").write_text("one\n")
    model.say(
        Say(calls=[Call("read_file", {"path": "a.txt"})]),
        Say(calls=[Call("list_files", {}), Call("terminal", {"command": "sleep 60"})]),
    )
    session = await editor.new_session(project)
    editor.begin_prompt(session, "go")
    await editor.wait_update(
        lambda update: update.get("status") == "in_progress" and update["toolCallId"] in commands(editor)
    )
    await asyncio.sleep(0.1)
    ended = {update["toolCallId"] for update in editor.updates(session) if update.get("status") == "completed"}
    assert len(ended) == 2
    _, cards = await restart_after_kill(editor, model, project, tmp_path, session)
    assert {card for card, state in cards.items() if state["status"] == "completed"} == ended


def commands(editor):
    return {update["toolCallId"] for update in editor.updates() if update.get("kind") == "execute"}


async def test_kill_during_a_command_keeps_its_card_and_what_was_said_before(editor, model, project, tmp_path):
    model.say(Say(text=["Before."], calls=[Call("terminal", {"command": "touch begun; sleep 60"})]))
    session = await editor.new_session(project)
    editor.begin_prompt(session, "go")
    await editor.wait_update(lambda update: update.get("status") == "in_progress")
    text, cards = await restart_after_kill(editor, model, project, tmp_path, session)
    assert [piece[2] for piece in text[:2]] == ["go", "Before."]
    assert [card["status"] for card in cards.values()] == ["failed"]
    [result] = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
    assert "not known" in result


async def test_kill_during_a_question(editor, model, project, tmp_path):
    editor.handlers["session/request_permission"] = never
    model.say(Say(text=["Before."], calls=[Call("terminal", {"command": "touch made"})]))
    session = await editor.new_session(project)
    editor.begin_prompt(session, "go")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    text, cards = await restart_after_kill(editor, model, project, tmp_path, session)
    assert [piece[2] for piece in text[:2]] == ["go", "Before."]
    assert [card["status"] for card in cards.values()] == ["failed"]
    assert not (project / "made").exists()


async def test_mode_and_model_are_kept_over_a_restart(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        result = await second.request("session/load", open_params(session, project))
        assert result["modes"]["currentModeId"] == "accept_edits"
        options = {option["id"]: option["currentValue"] for option in result["configOptions"]}
        assert options == {"mode": "accept_edits", "model": "fake-model"}
