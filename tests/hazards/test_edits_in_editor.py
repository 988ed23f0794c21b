"""Edits that go through the editor: where they land, and what is said of those that came out otherwise."""

import asyncio
import os

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import open_editor
from tests.support.hands import Buffers

pytestmark = pytest.mark.slow

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FILES)
        yield editor


@pytest.fixture
def buffers(editor):
    return Buffers(editor)


@pytest.fixture
def target(project):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    return target


def patch(path="a.txt", old="two", new="three"):
    return Say(calls=[Call("patch", {"path": path, "old_text": old, "new_text": new})])


def write(content, path="a.txt"):
    return Say(calls=[Call("write_file", {"path": path, "content": content})])


def last_result(model):
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"][-1]


async def turn(editor, model, project, *replies):
    model.say(*replies, "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"


def last_card(editor):
    return [update for update in editor.updates(kind="tool_call_update") if update.get("status")][-1]


def shown_diffs(card):
    return [block["newText"] for block in card.get("content") or () if block["type"] == "diff"]


def becomes(change):
    """A handler of `fs/write_text_file` that does something else than it was asked."""

    def handle(params):
        change(params["path"], params["content"])
        return {}

    return handle


def put(path, text):
    with open(path, "w", newline="") as file:
        file.write(text)


async def test_a_hard_link_outside_the_workspace_keeps_its_content(editor, model, project, buffers, target, tmp_path):
    outside = tmp_path / "outside.txt"
    os.link(target, outside)
    await turn(editor, model, project, patch())
    assert target.read_text() == "one\nthree\n"
    assert outside.read_text() == "one\ntwo\n"
    assert buffers.writes() == []


async def test_a_hard_linked_file_with_unsaved_text_is_refused(editor, model, project, buffers, target, tmp_path):
    os.link(target, tmp_path / "outside.txt")
    buffers.open[str(target)] = "one, unsaved\ntwo\n"
    await turn(editor, model, project, patch())
    assert "unsaved changes" in last_result(model)
    assert target.read_text() == "one\ntwo\n"


async def test_a_folder_swapped_for_a_link_while_the_editor_reads_is_not_followed(
    editor, model, project, buffers, tmp_path
):
    folder, outside = project / "d", tmp_path / "outside"
    for each in (folder, outside):
        each.mkdir()
        (each / "a.txt").write_text("one\ntwo\n")

    def read(params):
        answer = buffers.read(params)
        if len(buffers.calls) == 2:
            folder.rename(project / "moved")
            folder.symlink_to(outside)
        return answer

    editor.handlers["fs/read_text_file"] = read
    await turn(editor, model, project, patch("d/a.txt"))
    assert (outside / "a.txt").read_text() == "one\ntwo\n"
    assert buffers.writes() == []
    assert "leads elsewhere now" in last_result(model)


async def test_no_folder_is_made_through_a_link_that_has_come_since(editor, model, project, buffers, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()

    def read(params):
        if len(buffers.calls) == 1:
            (project / "d").symlink_to(outside)
        return buffers.read(params)

    editor.handlers["fs/read_text_file"] = read
    await turn(editor, model, project, write("x\n", "d/e/new.txt"))
    assert (project / "d").is_symlink()
    assert list(outside.iterdir()) == []
    assert buffers.writes() == []


async def test_a_file_marked_read_only_is_not_written_by_the_editor(editor, model, project, buffers, target):
    target.chmod(0o444)
    await turn(editor, model, project, patch())
    assert "read-only" in last_result(model)
    assert buffers.writes() == []
    assert target.read_text() == "one\ntwo\n"


async def test_a_file_that_the_editor_deletes_is_no_success(editor, model, project, buffers, target):
    editor.handlers["fs/write_text_file"] = becomes(lambda path, content: os.unlink(path))
    await turn(editor, model, project, patch())
    assert "deleted" in last_result(model)
    assert last_card(editor)["status"] == "failed"
    assert shown_diffs(last_card(editor)) == []


async def test_other_content_than_the_editor_shows_is_no_success(editor, model, project, buffers, target):
    buffers.open[str(target)] = "one\ntwo\n"
    editor.handlers["fs/write_text_file"] = becomes(lambda path, content: put(path, "else\n"))
    await turn(editor, model, project, patch())
    assert "other content" in last_result(model)
    assert last_card(editor)["status"] == "failed"
    assert shown_diffs(last_card(editor)) == []


@pytest.mark.parametrize("formatted", ["one\n    three\n", "one\r\nthree\r\n", "one\nthree"])
async def test_formatting_on_save_is_told_and_shown_as_it_is(editor, model, project, buffers, target, formatted):
    editor.handlers["fs/write_text_file"] = becomes(lambda path, content: put(path, formatted))
    await turn(editor, model, project, patch())
    assert "The editor changed it further" in last_result(model)
    assert last_card(editor)["status"] == "completed"
    assert shown_diffs(last_card(editor)) == [formatted]


async def test_unsaved_text_of_a_file_not_on_disk_is_seen_before_it_is_replaced(editor, model, project, buffers):
    target = project / "new.txt"
    buffers.open[str(target)] = "unsaved work\n"
    await turn(editor, model, project, Say(calls=[Call("read_file", {"path": "new.txt"})]), write("kept\n", "new.txt"))
    read = [message["content"] for message in model.requests[1].messages if message["role"] == "tool"]
    assert "unsaved work" in read[0]
    asked = next(line["params"] for line in editor.lines if line.get("method") == "session/request_permission")
    assert [block["oldText"] for block in asked["toolCall"]["content"] if block["type"] == "diff"] == ["unsaved work\n"]
    assert target.read_text() == "kept\n"


async def test_a_file_that_our_command_removed_is_gone_though_the_editor_still_shows_it(
    editor, model, project, buffers, target
):
    buffers.open[str(target)] = "one\ntwo\n"
    read = Say(calls=[Call("read_file", {"path": "a.txt"})])
    await turn(editor, model, project, read, Say(calls=[Call("terminal", {"command": "rm a.txt"})]), read)
    assert "does not exist" in last_result(model)


async def test_a_write_cancelled_while_the_editor_is_at_it_is_not_called_undone(
    editor, model, project, buffers, target
):
    async def never_mind(params):
        try:
            await asyncio.Event().wait()
        finally:
            buffers.write(params)

    editor.handlers["fs/write_text_file"] = never_mind
    model.say(patch())
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_line(lambda line: line.get("method") == "fs/write_text_file")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    model.say("Done.")
    await editor.prompt(session, "and now?")
    assert "not known whether it was written" in last_result(model)
