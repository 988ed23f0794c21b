"""F and C2: files between the disk, the editor and our own commands."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import open_editor
from tests.support.hands import Buffers

pytestmark = pytest.mark.slow


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"fs": {"readTextFile": True, "writeTextFile": True}})
        yield editor


@pytest.fixture
def buffers(editor):
    return Buffers(editor)


def call(tool, **arguments):
    return Say(calls=[Call(tool, arguments)])


async def turn(editor, model, project, *replies):
    model.say(*replies, "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


async def test_c2_several_edits_of_one_call_are_one_write_of_the_final_text(editor, model, project, buffers):
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "three", "new_text": "3"}]
    await turn(editor, model, project, call("patch", path="a.txt", edits=edits))
    assert buffers.writes() == [str(project / "a.txt")]
    assert buffers.open[str(project / "a.txt")] == (project / "a.txt").read_text() == "1\ntwo\n3\n"


async def test_c2_a_whole_write_and_a_new_file_go_through_the_editor_too(editor, model, project, buffers):
    (project / "a.txt").write_text("one\n")
    await turn(
        editor,
        model,
        project,
        call("write_file", path="a.txt", content="two\n"),
        call("write_file", path="b.txt", content="new\n"),
    )
    assert buffers.writes() == [str(project / "a.txt"), str(project / "b.txt")]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        call("patch", path="a.txt", old_text="v2", new_text="v3"),
        call("write_file", path="a.txt", content="v3\n"),
    ],
    ids=["patch", "write_file"],
)
async def test_f2_a_buffer_that_our_command_made_stale_does_not_bring_the_old_text_back(
    editor, model, project, buffers, write, background
):
    target = project / "a.txt"
    target.write_text("v1\n")
    buffers.open[str(target)] = "v1\n"
    await turn(
        editor,
        model,
        project,
        call("read_file", path="a.txt"),
        call("terminal", command="echo v2 > a.txt; sleep 0.2", background=background),
        call("process", action="wait", id="p1", timeout=5),
        write,
    )
    assert target.read_text() == "v3\n"


async def test_f2_a_command_that_still_runs_may_change_a_file_again_and_again(editor, model, project, buffers):
    """The buffer stays at what it was; the disk is right after each change of the command's."""
    target = project / "a.txt"
    target.write_text("v1\n")
    buffers.open[str(target)] = "v1\n"
    line = "for v in 2 3; do echo v$v > a.txt; while [ -e a.txt ] && [ ! -e go$v ]; do sleep 0.02; done; done; sleep 60"
    *_, third, edited = await turn(
        editor,
        model,
        project,
        call("read_file", path="a.txt"),
        call("terminal", command=line, background=True),
        call("process", action="wait", id="p1", timeout=0.3),
        call("read_file", path="a.txt"),
        call("write_file", path="go2", content="x"),
        call("process", action="wait", id="p1", timeout=0.3),
        call("read_file", path="a.txt"),
        call("patch", path="a.txt", old_text="v3", new_text="v4"),
    )
    assert "1 replacement" in edited
    assert "v3" in third
    assert target.read_text() == "v4\n"


async def test_f2_an_edit_of_the_stale_text_is_refused(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("v1\n")
    buffers.open[str(target)] = "v1\n"
    *_, refused = await turn(
        editor,
        model,
        project,
        call("read_file", path="a.txt"),
        call("terminal", command="echo v2 > a.txt"),
        call("patch", path="a.txt", old_text="v1", new_text="v3"),
    )
    assert "does not occur" in refused
    assert target.read_text() == "v2\n"
    assert buffers.writes() == []
