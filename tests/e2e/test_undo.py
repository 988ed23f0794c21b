"""/undo: the last turn's files byte for byte, and the conversation without the turn."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor
from tests.support.hands import Buffers
from tests.support.small_model import goal_of
from tests.support.talk import open_params
from tests.support.undo import patch, run, undo, write

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}


async def turn(editor, session, *calls, prompt="go", answer="Done."):
    editor.model.say(Say(calls=list(calls)), answer)
    assert await editor.prompt(session, prompt) == "end_turn"


def asked(editor):
    return [line["params"] for line in editor.lines if line.get("method") == "session/request_permission"]


def seen(model):
    """What the model saw last, without the system prompt."""
    return [message["content"] for message in model.requests[-1].messages[1:]]


@pytest.fixture(params=["disk", "editor"])
async def editor(request, tmp_path, model):
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_MODE="accept_edits") as editor:
        await editor.initialize(FILES if request.param == "editor" else {})
        editor.model = model
        editor.buffers = Buffers(editor)
        yield editor


async def test_the_undone_turn_is_called_by_what_was_typed_without_the_files_that_came_with_it(editor, model, project):
    (project / "a.txt").write_text("two\n")
    session = await editor.new_session(project)
    editor.model.say(Say(calls=[patch("a.txt", "two", "three")]), "Done.")
    link = {"type": "resource_link", "uri": (project / "a.txt").as_uri(), "name": "a.txt"}
    blocks = [{"type": "text", "text": "Correct it, please."}, link]
    await editor.request("session/prompt", {"sessionId": session, "prompt": blocks})
    assert "The turn “Correct it, please.” is undone" in await undo(editor, session)


async def test_changed_files_are_restored_and_made_ones_removed_with_their_folders(editor, model, project):
    (project / "a.txt").write_bytes(b"one\ntwo\n")
    (project / "a.txt").chmod(0o640)
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", "two", "three"), write("new/deep/b.txt", "b\n"), prompt="Change it.")
    await turn(editor, session, patch("a.txt", "one", "1"), patch("a.txt", "three", "3"), prompt="Change more.")
    assert (project / "a.txt").read_bytes() == b"1\n3\n"
    text = await undo(editor, session)
    assert "`a.txt`: restored" in text
    assert "The turn “Change more.” is undone" in text
    assert (project / "a.txt").read_bytes() == b"one\nthree\n"
    text = await undo(editor, session)
    assert "The turn “Change it.” is undone" in text
    assert "`new/deep/b.txt`: removed" in text
    assert (project / "a.txt").read_bytes() == b"one\ntwo\n"
    assert (project / "a.txt").stat().st_mode & 0o777 == 0o640
    assert list(project.iterdir()) == [project / "a.txt"]
    assert asked(editor) == []
    assert "There is no turn to undo" in await undo(editor, session)
    model.say("Anew.")
    await editor.prompt(session, "And now?")
    assert seen(model) == ["And now?"]


async def test_the_turn_is_gone_for_the_model_and_shown_as_undone_also_after_a_restart(
    tmp_path, editor, model, project
):
    session = await editor.new_session(project)
    await turn(editor, session, write("a.txt", "a\n"), prompt="First.", answer="One.")
    await turn(editor, session, write("b.txt", "b\n"), prompt="Second.", answer="Two.")
    await undo(editor, session)
    assert (project / "a.txt").exists()
    assert not (project / "b.txt").exists()
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        again.model = model
        await again.request("session/load", open_params(session, project))
        said = again.text(session, "user_message_chunk")
        assert [word for word in ("First.", "Second.", "/undo") if word in said] == ["First.", "Second.", "/undo"]
        assert "is undone" in again.text(session)
        cards = [card for card in again.updates(session, "tool_call") if card["title"].startswith("Undo")]
        assert len(cards) == 1
        model.say("Three.")
        await again.prompt(session, "Third.")
        assert "Second." not in str(seen(model))
        assert seen(model)[0] == "First."
        await undo(again, session)
        await undo(again, session)
        assert not (project / "a.txt").exists()


@pytest.mark.parametrize("answer", ["allow_once", "reject_once"])
async def test_a_file_that_has_changed_since_is_asked_about_once_with_its_name(editor, project, answer):
    for name in ("a.txt", "b.txt"):
        (project / name).write_text("one\n")
    session = await editor.new_session(project)
    await turn(editor, session, write("a.txt", "two\n"), write("b.txt", "two\n"))
    (project / "a.txt").write_text("mine\n")
    editor.buffers.open.clear()
    editor.handlers["session/request_permission"] = choose(answer)
    text = await undo(editor, session)
    [question] = asked(editor)
    assert "a.txt" in str(question["toolCall"])
    assert [option["kind"] for option in question["options"]] == ["allow_once", "reject_once"]
    if answer == "allow_once":
        assert (project / "a.txt").read_text() == (project / "b.txt").read_text() == "one\n"
    else:
        assert "Nothing was undone" in text
        assert (project / "a.txt").read_text() == "mine\n"
        assert (project / "b.txt").read_text() == "two\n"
        assert "restored" in await undo_allowed(editor, session)
        assert (project / "b.txt").read_text() == "one\n"


async def undo_allowed(editor, session):
    editor.handlers["session/request_permission"] = choose("allow_once")
    return await undo(editor, session)


async def test_a_file_that_was_deleted_since_is_made_again_with_its_mode(editor, project):
    target = project / "run.sh"
    target.write_bytes(b"#!/bin/sh\n")
    target.chmod(0o755)
    session = await editor.new_session(project)
    await turn(editor, session, write("run.sh", "#!/bin/bash\n"))
    target.unlink()
    editor.buffers.open.clear()
    text = await undo(editor, session)
    assert len(asked(editor)) == 1
    assert "made again" in text
    assert target.read_bytes() == b"#!/bin/sh\n"
    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("before", "old", "encoding"),
    [
        (b"\xef\xbb\xbfone\ntwo\n", "two", "utf-8"),
        (b"one\r\ntwo\r\n", "two", "utf-8"),
        (b"one\r\ntwo\nlast", "two", "utf-8"),
        (b"caf\xe9\ntwo\n", "two", "latin-1"),
        (b"\xff\xfeo\0n\0e\0", "one", "utf-16"),
        (b"", "", "utf-8"),
    ],
    ids=["byte order mark", "crlf", "mixed line ends", "latin-1", "utf-16", "empty"],
)
async def test_every_byte_comes_back(editor, project, before, old, encoding):
    target = project / "a.txt"
    editor.buffers.encoding = encoding
    target.write_bytes(before)
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", old, "three") if old else write("a.txt", "three\n"))
    changed = target.read_bytes()
    await undo(editor, session)
    assert changed != before
    assert target.read_bytes() == before


async def test_a_symbolic_link_stays_one_and_its_file_is_restored(editor, project):
    (project / "real.txt").write_text("one\n")
    (project / "link.txt").symlink_to("real.txt")
    session = await editor.new_session(project)
    await turn(editor, session, patch("link.txt", "one", "two"))
    await undo(editor, session)
    assert (project / "link.txt").is_symlink()
    assert (project / "real.txt").read_text() == "one\n"


async def test_commands_are_named_and_those_that_only_read_are_not(editor, project):
    (project / "a.txt").write_text("one\n")
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", "one", "two"), run("touch made-by-command"), run("ls"))
    text = await undo(editor, session)
    assert "touch made-by-command" in text
    assert "`ls" not in text
    assert (project / "made-by-command").exists()


async def test_a_turn_without_changes_is_taken_out_of_the_conversation(editor, model, project):
    session = await editor.new_session(project)
    model.say("One.", "Two.", "Three.")
    await editor.prompt(session, "First.")
    await editor.prompt(session, "Second.")
    assert "changed no files" in await undo(editor, session)
    await editor.prompt(session, "Third.")
    assert seen(model) == ["First.", "One.", "Third."]


@pytest.mark.parametrize("restarted", [False, True], ids=["at once", "after a restart"])
async def test_edits_of_subagents_are_undone_with_the_turn_they_worked_for(tmp_path, editor, project, restarted):
    (project / "a.txt").write_text("one\n")
    left = {
        "first": [Say(calls=[patch("a.txt", "one", "two")]), "I have changed it."],
        "second": [Say(calls=[write("new/b.txt", "b\n"), run("touch made-by-command")]), "I have made it."],
        "": [
            Say(calls=[Call("delegate_task", {"tasks": [{"goal": "first"}, {"goal": "second"}]})]),
            Say(calls=[patch("a.txt", "two", "three")]),
            "All done.",
        ],
    }
    editor.model.script(lambda body: left[goal_of(body)].pop(0))
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert (project / "a.txt").read_text() == "three\n"
    assert (project / "new" / "b.txt").read_text() == "b\n"
    if not restarted:
        text = await undo(editor, session)
    else:
        await editor.close()
        async with open_editor(tmp_path / "home", editor.model.url) as again:
            await again.initialize()
            await again.request("session/load", open_params(session, project))
            text = await undo(again, session)
    assert "`a.txt`: restored" in text
    assert "`new/b.txt`: removed" in text
    assert "touch made-by-command" in text
    assert (project / "a.txt").read_text() == "one\n"
    assert sorted(project.iterdir()) == [project / "a.txt", project / "made-by-command"]


async def test_what_a_fork_took_over_is_not_its_own_to_undo(editor, model, project):
    (project / "a.txt").write_text("one\n")
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", "one", "two"))
    fork = (await editor.request("session/fork", open_params(session, project)))["sessionId"]
    assert "There is no turn to undo" in await undo(editor, fork)
    assert (project / "a.txt").read_text() == "two\n"
    await turn(editor, fork, patch("a.txt", "two", "three"))
    await undo(editor, fork)
    assert (project / "a.txt").read_text() == "two\n"


async def test_after_a_reset_files_are_restored_and_the_answer_says_what_the_model_sees(editor, model, project):
    (project / "a.txt").write_text("one\n")
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", "one", "two"))
    await editor.prompt(session, "/reset")
    text = await undo(editor, session)
    assert "stands no longer by itself" in text
    assert (project / "a.txt").read_text() == "one\n"
    model.say("Hello.")
    await editor.prompt(session, "Hi.")
    assert seen(model) == ["Hi."]


async def test_an_undo_behind_a_running_turn_waits_for_it(editor, model, project):
    (project / "a.txt").write_text("one\n")
    session = await editor.new_session(project)
    model.say(Say(calls=[patch("a.txt", "one", "two")]), Say(text=["slow "] * 20, token_delay=0.02))
    running = editor.begin_prompt(session, "go")
    undone = editor.begin_prompt(session, "/undo")
    assert [each["stopReason"] for each in await asyncio.gather(running, undone)] == ["end_turn", "end_turn"]
    assert (project / "a.txt").read_text() == "one\n"


async def test_a_file_that_cannot_be_restored_is_named_and_the_turn_stays_until_it_can(editor, model, project):
    for name in ("a.txt", "b.txt"):
        (project / name).write_text("one\n")
    session = await editor.new_session(project)
    await turn(editor, session, patch("a.txt", "one", "two"), patch("b.txt", "one", "two"), prompt="Change both.")
    (project / "a.txt").chmod(0o444)
    text = await undo(editor, session)
    assert "1 of 2 files could not be restored" in text
    assert "read-only" in text
    assert [(project / name).read_text() for name in ("a.txt", "b.txt")] == ["two\n", "one\n"]
    model.say("Still here.")
    (project / "a.txt").chmod(0o644)
    assert "is undone" in await undo(editor, session)
    assert (project / "a.txt").read_text() == "one\n"
    await editor.prompt(session, "What now?")
    assert seen(model) == ["What now?"]


async def test_a_change_of_the_persons_between_two_edits_of_a_turn_is_asked_about(editor, model, project):
    target = project / "a.txt"
    target.write_text("one\n")
    session = await editor.new_session(project)
    model.say(
        Say(calls=[patch("a.txt", "one", "two")]),
        Say(calls=[run("printf 'two\\nmine\\n' > a.txt")]),
        Say(calls=[patch("a.txt", "two", "three")]),
        "Done.",
    )
    await editor.prompt(session, "go")
    editor.handlers["session/request_permission"] = choose("reject_once")
    before = len(asked(editor))
    assert "Nothing was undone" in await undo(editor, session)
    assert len(asked(editor)) == before + 1
    assert target.read_text() == "three\nmine\n"


async def test_unsaved_text_comes_back(tmp_path, model, project):
    target = project / "a.txt"
    target.write_text("saved\n")
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_MODE="accept_edits") as editor:
        await editor.initialize(FILES)
        editor.model, buffers = model, Buffers(editor)
        buffers.open[str(target)] = "saved\nunsaved\n"
        session = await editor.new_session(project)
        await turn(editor, session, patch("a.txt", "unsaved", "edited"))
        assert "unsaved in the editor" in await undo(editor, session)
        assert buffers.open[str(target)] == target.read_text() == "saved\nunsaved\n"
        assert buffers.writes() == [str(target)] * 2
