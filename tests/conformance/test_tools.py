"""Lines 54 to 59: tool calls and permissions."""

import signal

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import never, open_editor
from tests.support.talk import cards, open_params, states

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_54_each_call_is_reported_with_an_id_of_its_own_a_name_its_input_and_its_output(editor, model, project):
    """Though the model gives the same id again and again, or none."""
    (project / "a").write_text("x\n")
    read = {"path": "a"}
    same = [Call("read_file", read, id="call_0"), Call("read_file", read, id="call_0"), Call("list_files", {}, id="")]
    model.say(Say(calls=same), Say(calls=same), "Done.", Say(calls=[*same, Call("no_such_tool", {"x": 1})]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    await editor.prompt(session, "and again")
    names = ["read_file", "read_file", "list_files"] * 3 + ["no_such_tool"]
    shown = list(cards(editor, session).values())
    assert len(shown) == 10
    assert [card["name"] for card in shown] == names
    assert [card["rawInput"] for card in shown] == [read, read, {}] * 3 + [{"x": 1}]
    assert all(isinstance(card["rawOutput"], dict) and card["rawOutput"] for card in shown)
    assert all(card["title"] for card in shown)
    created = [update["toolCallId"] for update in editor.updates(session, "tool_call")]
    assert len(created) == len(set(created)) == 10
    before = len(editor.updates(session))
    await editor.request("session/load", open_params(session, project))
    again = [update for update in editor.updates(session)[before:] if update["sessionUpdate"] == "tool_call"]
    assert [(card["toolCallId"], card["name"]) for card in again] == list(zip(created, names, strict=True))


async def test_55_pending_then_asked_then_in_progress_then_the_end(editor, model, project):
    model.say(Say(calls=[Call("write_file", {"path": "a", "content": "x"}), Call("terminal", {"command": "exit 0"})]))
    when_asked = []
    allow = editor.handlers["session/request_permission"]

    def answer(params):
        when_asked.append(states(editor, params["sessionId"])[params["toolCall"]["toolCallId"]])
        return allow(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    assert when_asked == [["pending"], ["pending"]]
    assert list(states(editor, session).values()) == [["pending", "in_progress", "completed"]] * 2


async def test_56_a_cancelled_card_ends_failed_live_and_replayed(editor, model, project):
    editor.handlers["session/request_permission"] = never
    model.say(Say(calls=[Call("terminal", {"command": "exit 0"}), Call("terminal", {"command": "exit 1"})]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission" and of(line, session))
    editor.notify("session/cancel", {"sessionId": session})
    await prompt
    assert [card["status"] for card in cards(editor, session).values()] == ["failed", "failed"]
    await editor.request("session/close", {"sessionId": session})
    before = len(editor.updates(session))
    await editor.request("session/load", open_params(session, project))
    replayed = editor.updates(session)[before:]
    last = {update["toolCallId"]: update["status"] for update in replayed if "status" in update}
    assert set(last.values()) == {"failed"}


def of(line, session):
    return line["params"]["sessionId"] == session


async def test_56_a_card_that_a_kill_left_open_ends_failed_when_it_is_shown_again(model, project, tmp_path):
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60"})]))
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        editor.begin_prompt(session, "go")
        await editor.wait_update(lambda update: update.get("status") == "in_progress")
        await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
        editor.process.send_signal(signal.SIGKILL)
        await editor.process.wait()
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        await editor.request("session/load", open_params(session, project))
        assert list(states(editor, session).values()) == [["pending", "failed"]]
        assert list(states(editor, session)) == [card["toolCallId"] for card in editor.updates(session, "tool_call")]


async def test_56_a_load_of_an_open_session_shows_every_card_as_a_new_one(editor, model, project):
    (project / "a").write_text("x\n")
    model.say(Say(calls=[Call("read_file", {"path": "a"}), Call("list_files", {})]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    live = list(cards(editor, session))
    before = len(editor.updates(session))
    await editor.request("session/load", open_params(session, project))
    again = editor.updates(session)[before:]
    assert [update["toolCallId"] for update in again if update["sessionUpdate"] == "tool_call"] == live


async def test_58_content_and_locations_of_an_update_are_whole(editor, model, project):
    """They replace the earlier ones: what the last update of a card says is all that it shows."""
    (project / "a.txt").write_text("one\ntwo\n")
    command = "echo first; sleep 0.3; echo second"
    model.say(
        Say(
            calls=[
                Call("patch", {"path": "a.txt", "old_text": "two", "new_text": "2"}),
                Call("terminal", {"command": command}),
            ]
        )
    )
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    edit, run = cards(editor, session).values()
    diff = {"type": "diff", "path": str(project / "a.txt"), "oldText": "one\ntwo\n", "newText": "one\n2\n"}
    assert edit["content"] == [diff]
    assert edit["locations"] == [{"path": str(project / "a.txt"), "line": 2}]
    [shown] = run["content"]
    assert "first\nsecond" in shown["content"]["text"]
    live = [update for update in editor.updates(session, "tool_call_update") if "first" in str(update.get("content"))]
    assert any("second" not in str(update["content"]) for update in live), "its output was shown while it ran"


async def test_59_the_diff_of_a_new_file_has_no_old_text(editor, model, project):
    (project / "old.txt").write_text("before\n")
    model.say(
        Say(
            calls=[
                Call("write_file", {"path": "new.txt", "content": "x\n"}),
                Call("write_file", {"path": "old.txt", "content": "after\n"}),
            ]
        )
    )
    asked = []
    allow = editor.handlers["session/request_permission"]
    editor.handlers["session/request_permission"] = lambda params: (
        asked.append(params["toolCall"]["content"]),
        allow(params),
    )[1]
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    new = {"type": "diff", "path": str(project / "new.txt"), "oldText": None, "newText": "x\n"}
    old = {"type": "diff", "path": str(project / "old.txt"), "oldText": "before\n", "newText": "after\n"}
    assert [content[0] for content in asked] == [new, old]
    assert [card["content"] for card in cards(editor, session).values()] == [[new], [old]]
