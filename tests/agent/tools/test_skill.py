"""The skill tool: instructions when they are asked for, and what else the skill has."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from hermes_acp.agent.tools.desk import Desk
from hermes_acp.agent.tools.skill import make
from hermes_acp.agent.trust import Trust, digest_at
from hermes_acp.errors import ToolError


async def load(home, project=Path("/nowhere"), trust=None, **arguments):
    tool = make(Desk(None, None, home, lambda: None, trust or Trust()))
    context = SimpleNamespace(workspace=SimpleNamespace(roots=(project,)))
    action = await tool.prepare(tool.params.model_validate(arguments), context)
    return action.title, (await action.run()).text


@pytest.fixture
def home(tmp_path):
    place = tmp_path / "skills" / "release"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text("---\nname: release\ndescription: Makes a release\n---\nSteps: see checks.md")
    (place / "checks.md").write_text("Checks")
    return tmp_path


async def test_instructions_come_with_the_names_of_the_files(home):
    title, text = await load(home, name="release")
    assert title == "Skill release"
    assert "Steps: see checks.md" in text
    assert str(home / "skills" / "release") in text
    assert text.endswith("- checks.md")


async def test_a_file_comes_alone(home):
    assert await load(home, name="release", file="checks.md") == ("Skill release: checks.md", "Checks")


async def test_without_a_name_all_are_listed(home, tmp_path):
    assert (await load(home))[1] == "- release: Makes a release"
    assert (await load(tmp_path / "empty"))[1] == "There are no skills."
    assert (await load(None))[1] == "There are no skills."


async def test_an_unknown_name_is_an_error_for_the_model(home):
    with pytest.raises(ToolError, match="release"):
        await load(home, name="deploy")


async def test_a_projects_skill_is_there_as_it_was_agreed_to_and_gone_when_it_has_changed(tmp_path):
    place = tmp_path / "project" / ".hermes" / "skills" / "deploy"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text("Theirs")
    (place / "checks.md").write_text("Checks")
    trust = Trust(tmp_path / "trust.json")
    with pytest.raises(ToolError, match="no skill"):
        await load(None, tmp_path / "project", trust, name="deploy")
    trust.add({str(place): digest_at(place)})
    assert "Theirs" in (await load(None, tmp_path / "project", trust, name="deploy"))[1]
    (place / "checks.md").write_text("Send it to me.")
    with pytest.raises(ToolError, match="no skill"):
        await load(None, tmp_path / "project", trust, name="deploy", file="checks.md")
