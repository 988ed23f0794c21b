"""C: what a tool call shows, what it leaves behind, and that every card comes to its end."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor
from tests.support.talk import card_updates, open_params

pytestmark = pytest.mark.slow

OLD = "".join(f"line {number}\n" for number in range(1, 51))
NEW = OLD.replace("line 7\n", "seven\n")
FINAL = ("completed", "failed")


def diffs(updates):
    return [part for update in updates for part in update.get("content") or () if part["type"] == "diff"]


def ends(updates):
    return [update["status"] for update in updates if update.get("status") in FINAL]


def results(model):
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


async def test_c1_an_edit_shows_the_real_texts_at_its_end_and_when_it_is_loaded_again(editor, model, project, tmp_path):
    (project / "old.txt").write_text(OLD)
    model.say(
        Say(calls=[Call("write_file", {"path": "old.txt", "content": NEW})]),
        Say(calls=[Call("patch", {"path": "old.txt", "old_text": "seven", "new_text": "7"})]),
        Say(calls=[Call("write_file", {"path": "new.txt", "content": "new\n"})]),
        Say(calls=[Call("patch", {"path": "old.txt", "old_text": "not there", "new_text": "7"})]),
        "Done.",
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    shown = [diffs(updates[-1:]) for updates in card_updates(editor, session).values()]
    old, new = str(project / "old.txt"), str(project / "new.txt")
    assert [[(each["path"], each.get("oldText"), each["newText"]) for each in of_one] for of_one in shown] == [
        [(old, OLD, NEW)],
        [(old, NEW, NEW.replace("seven", "7"))],
        [(new, None, "new\n")],
        [],
    ]
    assert "not occur" in str(list(card_updates(editor, session).values())[-1][-1]["content"])
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        await again.request("session/load", open_params(session, project))
        assert [diffs(updates[-1:]) for updates in card_updates(again, session).values()] == shown


BROKEN = ['{"path": ', "", "null", "[1]", '"str"', '{"path":"a"}{"path":"a"}', '{"path": NaN}', "<read/>"]


async def test_c3_broken_arguments_are_told_to_the_model_and_poison_nothing(editor, model, project, tmp_path):
    """The model server refuses a history whose arguments are not a JSON object."""
    session = await editor.new_session(project)
    for written in BROKEN:
        model.say(Say(calls=[Call("read_file", written), Call("", written)]), "Sorry.")
        assert await editor.prompt(session, "go") == "end_turn"
        told, nameless = results(model)[-2:]
        assert "path is missing" in told or "JSON" in told
        assert "names no tool" in nameless
        assert "was empty" not in nameless
    assert [ends(updates) for updates in card_updates(editor, session).values()] == [["failed"]] * 2 * len(BROKEN)
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        await again.request("session/load", open_params(session, project))
        model.say("Still here.")
        assert await again.prompt(session, "and now?") == "end_turn"
    assert model.problems == []


async def test_c4_each_card_ends_once_before_its_prompt_is_answered(editor, model, project):
    (project / "a").write_text("a\n")
    model.say(
        Say(calls=[Call("no_such_tool"), Call("read_file", {"path": "a"}), Call("read_file", {"path": "gone"})]),
        Say(calls=[Call("write_file", {"path": "a/b", "content": "x"}), Call("terminal", {"command": "exit 3"})]),
        Say(calls=[Call("read_file", {"path": "a\0b"}), Call("terminal", {"command": ""})]),
        "Done.",
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    found = [ends(updates) for updates in card_updates(editor, session).values()]
    assert found == [["failed"], ["completed"], ["failed"], ["failed"], ["failed"], ["failed"], ["failed"]]


async def test_c4_a_cancel_ends_the_cards_of_running_waiting_and_unfinished_calls(editor, model, project):
    editor.handlers["session/request_permission"] = choose("allow_always")
    commands = [Call("terminal", {"command": "sleep 60"}), Call("write_file", {"path": "x", "content": "x"})]
    model.say(Say(calls=[Call("read_file", {"path": "gone"}), *commands]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_update(lambda update: update.get("status") == "in_progress" and "sleep" in str(editor.lines))
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert [ends(updates) for updates in card_updates(editor, session).values()] == [["failed"]] * 3
    assert not (project / "x").exists()


async def test_c4_a_cancel_while_the_model_writes_a_call_ends_its_card(editor, model, project):
    model.say(Say(calls=[Call("write_file", {"path": "x", "content": "y" * 5_000})], token_delay=0.02))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_update(lambda update: update["sessionUpdate"] == "tool_call")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert [ends(updates) for updates in card_updates(editor, session).values()] == [["failed"]]
    assert await editor.prompt(session, "and now?") == "end_turn"
    assert not (project / "x").exists()


@pytest.mark.slow
async def test_c4_a_stream_that_breaks_ends_the_cards_it_has_begun(editor, model, project):
    model.say(
        Say(calls=[Call("write_file", {"path": "x", "content": "y" * 100})], ending="reset"),
        Say(calls=[Call("read_file", {"path": "gone"})]),
        "Done.",
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    found = [ends(updates) for updates in card_updates(editor, session).values()]
    assert found
    assert all(end == ["failed"] for end in found)
    assert not (project / "x").exists()


async def test_c6_a_new_file_is_one_small_card_however_it_arrives_and_is_written_for_a_slow_editor(
    editor, model, project
):
    await slow_down(editor)
    text = "# Title\n\n" + "words and more words\n" * 500
    model.say(Say(calls=[Call("write_file", {"path": "README.md", "content": text})]), "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert (project / "README.md").read_text() == text
    [updates] = card_updates(editor, session).values()
    assert len(updates) <= 5
    assert len(str(updates[0])) < 1_000
    assert all(len(diffs([update])) <= 1 for update in updates)
    assert ends(updates) == ["completed"]


async def slow_down(editor):
    """Let the editor take its time with every question."""

    async def slowly(params):
        await asyncio.sleep(0.5)
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = slowly
