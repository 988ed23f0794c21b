"""Files and terminals of the editor: its buffers are seen, edits appear in it, terminals are always released."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, never, open_editor
from tests.support.hands import Buffers, Terminals

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


def patch(path="a.txt", old="two", new="three"):
    return Say(calls=[Call("patch", {"path": str(path), "old_text": old, "new_text": new})])


def last_result(model):
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"][-1]


async def turn(editor, model, project, *replies):
    model.say(*replies, "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    return session


async def test_unsaved_text_is_what_the_model_reads(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("saved\n")
    buffers.open[str(target)] = "unsaved\n"
    await turn(editor, model, project, Say(calls=[Call("read_file", {"path": "a.txt"})]))
    assert "unsaved" in last_result(model)


@pytest.mark.parametrize("answer", [{}, None], ids=["object", "null"])
async def test_an_edit_is_written_once_through_the_editor(editor, model, project, buffers, answer):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    buffers.write_answer = answer
    await turn(editor, model, project, patch())
    assert buffers.writes() == [str(target)]
    assert target.read_text() == "one\nthree\n"
    assert buffers.open[str(target)] == "one\nthree\n"


async def test_an_edit_of_unsaved_text_keeps_it(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    buffers.open[str(target)] = "one, unsaved\ntwo\n"
    await turn(editor, model, project, patch())
    assert target.read_text() == "one, unsaved\nthree\n"


async def test_an_editor_that_drops_the_last_newline_does_not_cost_it(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    buffers.drops_last_newline = True
    await turn(editor, model, project, patch(old="one", new="first"))
    assert target.read_bytes() == b"first\ntwo\n"


async def test_an_editor_that_only_fills_its_buffer_gets_the_file_saved(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    buffers.saves = False
    await turn(editor, model, project, patch())
    assert target.read_text() == "one\nthree\n"


@pytest.mark.parametrize("answer", [AgentError(-32002, "not found"), AgentError(-32603, "File not found"), ""])
async def test_a_new_file_is_made_through_the_editor(editor, model, project, buffers, answer):
    def read(params):
        if isinstance(answer, AgentError):
            raise answer
        return {"content": answer}

    editor.handlers["fs/read_text_file"] = read
    await turn(
        editor, model, project, Say(calls=[Call("write_file", {"path": "deep/er/new.txt", "content": "hello\n"})])
    )
    assert (project / "deep/er/new.txt").read_text() == "hello\n"
    assert len(buffers.writes()) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbfone\nthree\n"),
        (b"one\r\ntwo\nlast\n", b"one\r\nthree\nlast\n"),
        (b"caf\xe9 one\ntwo\n", b"caf\xe9 one\nthree\n"),
    ],
    ids=["byte order mark", "mixed line ends", "not utf-8"],
)
async def test_bytes_that_would_not_survive_the_editor_go_past_it(editor, model, project, buffers, before, after):
    target = project / "a.txt"
    target.write_bytes(before)
    buffers.open[str(target)] = before.decode("cp1252" if b"\xe9" in before else "utf-8-sig")
    await turn(editor, model, project, patch())
    assert target.read_bytes() == after
    assert buffers.writes() == []


async def test_such_a_file_is_refused_while_the_editor_holds_another_text(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    buffers.open[str(target)] = "one, unsaved\ntwo\n"
    await turn(editor, model, project, patch())
    assert target.read_bytes() == b"\xef\xbb\xbfone\ntwo\n"
    assert "unsaved changes" in last_result(model)


async def test_crlf_files_stay_crlf_though_the_editor_speaks_lf(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_bytes(b"one\r\ntwo\r\n")
    buffers.open[str(target)] = "one\ntwo\n"
    await turn(editor, model, project, patch())
    assert target.read_bytes() == b"one\r\nthree\r\n"


async def test_a_stale_buffer_after_our_own_command_does_not_win_over_the_disk(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("v1\n")
    buffers.open[str(target)] = "v1\n"
    await turn(
        editor,
        model,
        project,
        Say(calls=[Call("read_file", {"path": "a.txt"})]),
        Say(calls=[Call("terminal", {"command": "echo v2 > a.txt"})]),
        patch(old="v2", new="v3"),
    )
    assert target.read_text() == "v3\n"


async def test_a_file_changed_on_both_sides_is_left_alone(editor, model, project, buffers):
    target = project / "a.txt"
    target.write_text("v1\n")
    buffers.open[str(target)] = "v1\n"
    model.script(lambda body: changed_after_the_read(body, target, buffers))
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    assert target.read_text() == "by another program\n"
    assert "both" in last_result(model)


def changed_after_the_read(body, target, buffers):
    results = sum(message["role"] == "tool" for message in body["messages"])
    if results == 0:
        return Say(calls=[Call("read_file", {"path": "a.txt"})])
    if results == 1:
        target.write_text("by another program\n")
        buffers.open[str(target)] = "by the person\n"
        return patch(old="v1", new="v2")
    return "Done."


async def test_an_editor_that_refuses_a_write_is_an_error_for_the_model(editor, model, project, buffers):
    (project / "a.txt").write_text("one\ntwo\n")

    def refuse(params):
        raise AgentError(-32603, "read-only buffer")

    editor.handlers["fs/write_text_file"] = refuse
    await turn(editor, model, project, patch())
    assert "read-only buffer" in last_result(model)
    assert (project / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    "capabilities",
    [{}, {"fs": None}, {"fs": {}}, {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}],
)
async def test_nothing_is_asked_of_an_editor_that_offers_nothing(tmp_path, model, project, capabilities):
    (project / "a.txt").write_text("one\ntwo\n")
    async with open_editor(tmp_path / "bare", model.url) as editor:
        await editor.initialize(capabilities)
        await turn(editor, model, project, patch(), Say(calls=[Call("terminal", {"command": "cat a.txt"})]))
    assert "three" in last_result(model)


async def test_an_editor_that_only_reads_gets_no_writes(tmp_path, model, project):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    async with open_editor(tmp_path / "reader", model.url) as editor:
        await editor.initialize({"fs": {"readTextFile": True}})
        buffers = Buffers(editor)
        await turn(editor, model, project, patch())
    assert target.read_text() == "one\nthree\n"
    assert buffers.writes() == []


@pytest.fixture
async def terminal_editor(tmp_path, model):
    async with open_editor(tmp_path / "terminals", model.url) as editor:
        await editor.initialize({"terminal": True})
        yield editor


@pytest.fixture
async def terminals(terminal_editor):
    terminals = Terminals(terminal_editor)
    yield terminals
    await terminals.aclose()


def run(command, **more):
    return Say(calls=[Call("terminal", {"command": command, **more})])


async def test_a_command_runs_in_the_editors_terminal_and_it_is_released(terminal_editor, terminals, model, project):
    session = await turn(terminal_editor, model, project, run("echo a && echo b | wc -l; exit 4"))
    [created] = terminals.created
    assert created["args"][-1] == "echo a && echo b | wc -l; exit 4"
    assert created["cwd"] == str(project)
    assert created["outputByteLimit"] > 0
    assert terminals.released == ["t1"]
    assert "a\n1" in last_result(model)
    assert "exit code 4" in last_result(model)
    embedded = [
        index
        for index, line in enumerate(terminal_editor.lines)
        if '"terminalId"' in str(line).replace("'", '"') and line.get("method") == "session/update"
    ]
    release = next(i for i, line in enumerate(terminal_editor.lines) if line.get("method") == "terminal/release")
    assert embedded[0] < release
    assert [update["status"] for update in terminal_editor.updates(session) if update.get("status")][-1] == "failed"


async def test_a_terminal_that_times_out_is_killed_read_and_released(terminal_editor, terminals, model, project):
    await turn(terminal_editor, model, project, run("sleep 60", timeout=1))
    assert (terminals.killed, terminals.released) == (["t1"], ["t1"])
    assert "stopped after 1 second" in last_result(model)


async def test_a_cancelled_terminal_is_killed_and_released(terminal_editor, terminals, model, project):
    model.say(run("sleep 60"))
    session = await terminal_editor.new_session(project)
    prompt = terminal_editor.begin_prompt(session, "go")
    await terminal_editor.wait_line(lambda line: line.get("method") == "terminal/wait_for_exit")
    terminal_editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert (terminals.killed, terminals.released) == (["t1"], ["t1"])


async def test_an_editor_that_fails_at_output_still_gets_its_release(terminal_editor, terminals, model, project):

    def fail(params):
        raise AgentError(-32603, "broken")

    terminal_editor.handlers["terminal/output"] = fail
    await turn(terminal_editor, model, project, run("true"))
    assert terminals.released == ["t1"]


async def test_an_editor_that_opens_no_terminal_lets_the_command_run_here(terminal_editor, model, project):
    def fail(params):
        raise AgentError(-32603, "no terminals today")

    terminal_editor.handlers["terminal/create"] = fail
    await turn(terminal_editor, model, project, run("echo here"))
    assert "here" in last_result(model)


async def test_a_silent_editor_does_not_hold_up_a_cancel(terminal_editor, terminals, model, project):
    for name in ("kill", "release"):
        terminal_editor.handlers[f"terminal/{name}"] = never
    model.say(run("sleep 60"))
    session = await terminal_editor.new_session(project)
    prompt = terminal_editor.begin_prompt(session, "go")
    await terminal_editor.wait_line(lambda line: line.get("method") == "terminal/wait_for_exit")
    terminal_editor.notify("session/cancel", {"sessionId": session})
    async with asyncio.timeout(4):
        assert (await prompt)["stopReason"] == "cancelled"
