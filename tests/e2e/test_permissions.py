"""Rules of the person and of a project, and the command that shows them, on the whole agent."""

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, choose, open_editor


def run(*commands):
    return Say(calls=[Call("terminal", {"command": command}) for command in commands])


async def test_rules_of_the_person_and_the_project_hold_and_are_shown(tmp_path, model, project):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[[approvals.rules]]\ndecision = "allow"\nprefix = ["touch"]\n')
    (project / ".hermes-acp.toml").write_text('[[approvals.rules]]\ndecision = "deny"\nprefix = ["touch", "b"]\n')
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["rawInput"]["command"])
        return choose("allow_always")(params)

    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        editor.handlers["session/request_permission"] = answer
        model.say(run("touch a", "touch b", "exit 0", "exit 0"), "Done.")
        session = await editor.new_session(project)
        await editor.prompt(session, "go")
        assert (project / "a").exists()
        assert not (project / "b").exists()
        assert asked == ["exit 0"]
        await editor.prompt(session, "/permissions")
        told = editor.text(session)
        for shown in (
            "run `exit 0` in",
            "allow commands that begin with `touch`",
            "deny commands that begin with `touch` `b`",
        ):
            assert shown in told
        await editor.prompt(session, "/permissions forget")
        model.say(run("exit 0"), "Done.")
        await editor.prompt(session, "go")
        assert asked == ["exit 0", "exit 0"]


@pytest.mark.parametrize("rule", ['prefix = ["touch"]', 'path = "**"', 'tool = "x"'])
async def test_a_project_that_would_allow_something_is_refused_in_one_line(editor, project, rule):
    (project / ".hermes-acp.toml").write_text(f'[[approvals.rules]]\ndecision = "allow"\n{rule}\n')
    with pytest.raises(AgentError) as error:
        await editor.new_session(project)
    assert error.value.code == -32603
    assert "only deny and ask" in str(error.value)
