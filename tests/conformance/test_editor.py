"""Lines 68 to 74: the editor's own methods."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import never, open_editor
from tests.support.talk import prompt_params

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

FORMS = {"elicitation": {"form": {}, "url": {}}}


def terminal_calls(editor):
    return [line["method"] for line in editor.lines if str(line.get("method")).startswith("terminal/")]


@pytest.mark.parametrize("answer", [{}, None])
async def test_68_an_edit_goes_through_the_editor_whatever_it_answers_to_the_write(model, project, tmp_path, answer):
    """Each flag by itself: the editor that only writes is not asked to read, nor for a terminal."""
    target = project / "a.txt"
    target.write_text("one\n")
    written = []

    def write(params):
        written.append(params["path"])
        target.write_text(params["content"])
        return answer

    model.say(
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})]),
        Say(calls=[Call("terminal", {"command": "exit 0"})]),
        "Done.",
    )
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"fs": {"writeTextFile": True}})
        editor.handlers["fs/write_text_file"] = write
        await editor.prompt(await editor.new_session(project), "edit")
        assert (written, target.read_text()) == ([str(target)], "two\n")
        ends = [update["status"] for update in editor.updates(kind="tool_call_update") if "rawOutput" in update]
        assert ends == ["completed", "completed"]
        assert {line["method"] for line in editor.lines if "method" in line and "id" in line} == {
            "fs/write_text_file",
            "session/request_permission",
        }


@pytest.mark.parametrize("end", ["exit", "timeout", "cancel"])
async def test_69_a_terminal_is_killed_read_and_released_once_in_this_order(model, project, tmp_path, end):
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60", "timeout": 1 if end == "timeout" else 60})]), "Done.")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"terminal": True})
        editor.handlers |= {
            "terminal/create": lambda params: {"terminalId": "t1"},
            "terminal/output": lambda params: {"output": "hi\n", "truncated": False},
            "terminal/wait_for_exit": never if end != "exit" else lambda params: {"exitCode": 0},
            "terminal/kill": lambda params: None,
            "terminal/release": lambda params: None,
        }
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "run")
        await editor.wait_line(lambda line: line.get("method") == "terminal/wait_for_exit")
        if end == "cancel":
            editor.notify("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == ("cancelled" if end == "cancel" else "end_turn")
        killed = ["terminal/kill"] if end != "exit" else []
        assert terminal_calls(editor)[2:] == [*killed, "terminal/output", "terminal/release"]
        create = next(line["params"] for line in editor.lines if line.get("method") == "terminal/create")
        assert create["outputByteLimit"] > 0
        embedded = [line for line in editor.lines if '"terminalId": "t1"' in str(line).replace("'", '"')]
        assert embedded[0]["method"] == "session/update", "it is shown before anything else is done with it"


async def test_70_an_editor_that_takes_forms_is_sent_none_that_nobody_needs(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(FORMS)
        session = await editor.new_session(project)
        await editor.request("session/prompt", prompt_params(session, "hi"))
        assert [line for line in editor.lines if line.get("method") == "elicitation/create"] == []


@pytest.mark.parametrize(("offered", "form"), [(FORMS, True), ({"elicitation": {"url": {}}}, False), ({}, False)])
async def test_70_a_question_is_a_form_only_where_forms_are_offered(model, project, tmp_path, offered, form):
    model.say(Say(calls=[Call("clarify", {"question": "How?"})]), "Good.")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(offered)
        editor.handlers["elicitation/create"] = lambda params: {"action": "accept", "content": {"answer": "so"}}
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
        sent = [line["params"] for line in editor.lines if line.get("method") == "elicitation/create"]
        assert [params["mode"] for params in sent] == (["form"] if form else [])
