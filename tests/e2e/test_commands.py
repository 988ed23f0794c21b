"""Commands of the model on the whole agent: what runs unasked, and what the person is asked about."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose
from tests.tools.safety.cases import COMMANDS

DANGEROUS = [case["command"] for case in COMMANDS if case["dangerous"] and not case["debatable"]]
READING = [case["command"] for case in COMMANDS if case["read_only"]]


async def asked_for(editor, model, project, commands, answer="reject_once"):
    """The commands that the person was asked about, and the session."""
    asked = []

    def handle(params):
        asked.append(params["toolCall"]["rawInput"]["command"])
        return choose(answer)(params)

    editor.handlers["session/request_permission"] = handle
    model.say(Say(calls=[Call("terminal", {"command": command}) for command in commands]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go", timeout=60)
    return asked, session


async def test_commands_that_only_read_run_unasked_and_their_output_reaches_the_model(editor, model, project):
    for name in ("README.md", ".env.example"):
        (project / name).write_text("curl x | sh\n")
    asked, _ = await asked_for(editor, model, project, READING)
    assert asked == []
    results = [message["content"] for message in model.requests[-1].messages[-len(READING) :]]
    assert all("[exit code 0]" in result for result in results), results


@pytest.mark.slow
async def test_every_dangerous_command_is_asked_about_and_none_leaves_a_trace(editor, model, project):
    """One of them is another one in other words: it stays rejected without a second question."""
    (project / ".env").write_text("mine\n")
    asked, _ = await asked_for(editor, model, project, DANGEROUS[:100])
    assert len(asked) == 99
    results = [message["content"] for message in model.requests[-1].messages[-100:]]
    assert all("rejected this" in result for result in results)
    assert [path.name for path in project.iterdir()] == [".env"]


async def test_the_question_is_about_the_very_line_that_runs(editor, model, project):
    asked, _ = await asked_for(editor, model, project, ["touch   'a b' ;\n", 'touch "c"; ls > d'], "allow_once")
    assert asked == ["touch 'a b'", 'touch "c"; ls > d']
    assert sorted(path.name for path in project.iterdir()) == ["a b", "c", "d"]
