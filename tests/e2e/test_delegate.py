"""Subagents as the editor, the model server and the disk see them."""

import asyncio
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, never, open_editor
from tests.support.hands import Buffers
from tests.support.processes import processes_tagged
from tests.support.small_model import goal_of
from tests.support.talk import card_updates, open_params


def script(model, **replies):
    """Each agent says its own replies, in order; the parent's are those of `parent`."""
    left = {goal: list(of_goal) for goal, of_goal in replies.items()}
    model.script(lambda body: left[goal_of(body) or "parent"].pop(0))


def delegate(*goals):
    return Say(calls=[Call("delegate_task", {"tasks": [{"goal": goal} for goal in goals]})])


def requests(model, goal=""):
    return [request for request in model.requests if goal_of(request.body) == goal]


def ends(updates):
    return [update["status"] for update in updates if update.get("status") in ("completed", "failed")]


def titles(found):
    return {
        call_id: next(update["title"] for update in updates[::-1] if "title" in update)
        for call_id, updates in found.items()
    }


async def test_three_work_at_once_and_their_cards_and_words_stand_under_the_parents(editor, model, project):
    for name in "abc":
        (project / name).write_text(f"content of {name}\n")
    script(
        model,
        parent=[delegate(*"abc"), "All read."],
        **{name: [Say(calls=[Call("read_file", {"path": name})]), f"I read {name}."] for name in "abc"},
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "read all") == "end_turn"
    told = requests(model)[1].messages[-1]["content"]
    assert told == "## [1] a\nI read a.\n\n## [2] b\nI read b.\n\n## [3] c\nI read c."
    for name in "abc":
        first, second = requests(model, name)
        assert [message["role"] for message in first.messages] == ["system", "user"]
        assert first.messages[0] == requests(model)[0].messages[0]
        assert "read all" not in str(first.body)
        offered = {tool["function"]["name"] for tool in first.body["tools"]}
        assert {"read_file", "patch", "terminal", "todo"} <= offered
        assert not offered & {"delegate_task", "clarify", "memory"}
        assert f"content of {name}" in second.messages[-1]["content"]
    found = card_updates(editor, session)
    assert [ends(updates) for updates in found.values()] == [["completed"]] * 4
    marks = sorted(title[:4] for title in titles(found).values() if title.startswith("["))
    assert marks == ["[1] ", "[2] ", "[3] "]
    assert editor.text(session) == "All read."


async def test_a_load_shows_their_cards_again_and_lists_no_session_of_theirs(editor, model, project, tmp_path):
    (project / "a").write_text("x\n")
    read = [Say(calls=[Call("read_file", {"path": "a"})]), "Read."]
    script(model, parent=[delegate("a"), "Done.", "And on."], a=read)
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    shown = {call_id: updates[-1]["status"] for call_id, updates in card_updates(editor, session).items()}
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        assert [row["sessionId"] for row in (await again.request("session/list"))["sessions"]] == [session]
        await again.request("session/load", open_params(session, project))
        assert {call_id: updates[-1]["status"] for call_id, updates in card_updates(again, session).items()} == shown
        assert again.text(session) == "Done."
        assert await again.prompt(session, "and?") == "end_turn"
    roles = [message["role"] for message in requests(model)[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_their_questions_come_one_at_a_time_and_say_whose_they_are(editor, model, project):
    script(
        model,
        parent=[delegate(*"abc"), "Done."],
        **{name: [Say(calls=[Call("terminal", {"command": f"touch {name}"})]), "ran"] for name in "abc"},
    )
    open_now, most, asked = [0], [0], []

    async def answer(params):
        open_now[0] += 1
        most[0] = max(most[0], open_now[0])
        asked.append(params["toolCall"])
        await asyncio.sleep(0.05)
        open_now[0] -= 1
        return choose("reject_once" if "touch b" in str(params) else "allow_once")(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert most == [1]
    assert sorted(card["title"][:4] for card in asked) == ["[1] ", "[2] ", "[3] "]
    assert {card["toolCallId"] for card in asked} < set(card_updates(editor, session))
    assert sorted(path.name for path in project.iterdir()) == ["a", "c"]
    assert "rejected" in str(requests(model, "b")[1].messages[-1])
    for updates in card_updates(editor, session).values():
        states = [update["status"] for update in updates if "status" in update]
        assert states[0] == "pending"
        assert len(ends(updates)) == 1


async def test_a_cancel_ends_three_with_their_commands_and_the_next_prompt_runs(editor, model, project):
    script(
        model,
        parent=[delegate(*"abc"), "Next."],
        **{name: [Say(calls=[Call("terminal", {"command": f"sleep 3{n}"})])] for n, name in enumerate("abc")},
    )
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")

    def running():
        found = card_updates(editor, session).values()
        return sum("sleep" in str(updates) and updates[-1].get("status") == "in_progress" for updates in found)

    await editor.wait_update(lambda update: running() == 3)
    began = time.monotonic()
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert time.monotonic() - began < 10
    found = card_updates(editor, session)
    assert [ends(updates) for updates in found.values()] == [["failed"]] * 4
    assert [
        pid for pid in processes_tagged(editor.tag) if pid != editor.process.pid and b"sleep" in command_of(pid)
    ] == []
    assert await editor.prompt(session, "again") == "end_turn"


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


@pytest.mark.slow
async def test_a_cancel_takes_the_open_question_back_and_asks_no_other(editor, model, project):
    editor.handlers["session/request_permission"] = never
    script(
        model,
        parent=[delegate("a", "b"), "Next."],
        **{name: [Say(calls=[Call("terminal", {"command": f"touch {name}"})])] for name in "ab"},
    )
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    question = await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert editor.cancelled == [question["id"]]
    assert len([line for line in editor.lines if line.get("method") == "session/request_permission"]) == 1
    assert [ends(updates) for updates in card_updates(editor, session).values()] == [["failed"]] * 3


@pytest.mark.slow
async def test_cards_that_a_kill_left_open_end_when_they_are_shown_again(editor, model, project, tmp_path):
    script(
        model,
        parent=[delegate("a", "b")],
        **{name: [Say(calls=[Call("terminal", {"command": "sleep 40"})])] for name in "ab"},
    )
    session = await editor.new_session(project)
    editor.begin_prompt(session, "go")
    await editor.wait_update(
        lambda update: str(card_updates(editor, session)).count("in_progress") == 3 and "status" in update
    )
    await editor.kill()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        await again.request("session/load", open_params(session, project))
        found = card_updates(again, session)
        assert [ends(updates) for updates in found.values()] == [["failed"]] * 3
        model.script(lambda body: "Back.")
        assert await again.prompt(session, "and?") == "end_turn"


async def test_two_that_edit_one_file_through_a_slow_editor_do_not_overwrite_each_other(tmp_path, model, project):
    target = project / "x"
    target.write_text("one\n")
    both = ("two", "three")
    script(
        model,
        parent=[delegate(*both), "Done."],
        **{
            name: [Say(calls=[Call("patch", {"path": "x", "old_text": "one", "new_text": name})]), "edited"]
            for name in both
        },
    )
    async with open_editor(tmp_path / "home", model.url, arguments=("--mode", "accept_edits")) as editor:
        buffers = Buffers(editor)

        async def slowly(params):
            await asyncio.sleep(0.2)
            return buffers.write(params)

        editor.handlers["fs/write_text_file"] = slowly
        await editor.initialize({"fs": {"readTextFile": True, "writeTextFile": True}})
        session = await editor.new_session(project)
        assert await editor.prompt(session, "go") == "end_turn"
        assert len(buffers.writes()) == 1
        found = [updates for call_id, updates in card_updates(editor, session).items() if "." in call_id]
        assert sorted(end for updates in found for end in ends(updates)) == ["completed", "failed"]
        assert target.read_text() in ("two\n", "three\n")


@pytest.mark.slow
async def test_the_budget_of_each_is_the_configured_one(tmp_path, model, project):
    home = tmp_path / "home"
    (home / "hermes-acp").mkdir(parents=True)
    (home / "hermes-acp" / "config.toml").write_text("[delegation]\nmax_iterations = 1\n")
    script(model, parent=[delegate("a"), "Done."], a=[Say(calls=[Call("list_files", {})]), "Half."])
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
    assert requests(model, "a")[1].body["tool_choice"] == "none"
    assert "used up what it may" in str(requests(model)[1].messages[-1])
