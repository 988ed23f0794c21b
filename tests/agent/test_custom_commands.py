"""The person's own slash commands: what a file means, and which files mean nothing."""

import pytest

from hermes_acp.agent.custom_commands import find_custom_command, find_custom_commands


def put(home, name, text):
    (home / "commands").mkdir(exist_ok=True)
    (home / "commands" / f"{name}.md").write_text(text)


def test_arguments_go_where_they_are_wanted_as_they_are(tmp_path):
    put(tmp_path, "fix", "Fix issue $ARGUMENTS.\nThen test $ARGUMENTS.")
    command = find_custom_command(tmp_path, "fix")
    assert command.text(r"\1 $ARGUMENTS") == "Fix issue \\1 $ARGUMENTS.\nThen test \\1 $ARGUMENTS."
    assert (command.description, command.hint) == ("Fix issue $ARGUMENTS.", "arguments")


def test_arguments_without_a_place_go_below(tmp_path):
    put(tmp_path, "review", "---\ndescription: Reviews\nargument-hint: what\n---\n# Review the diff")
    command = find_custom_command(tmp_path, "review")
    assert (command.description, command.hint) == ("Reviews", "what")
    assert command.text("") == "# Review the diff"
    assert command.text("of main") == "# Review the diff\n\nof main"


@pytest.mark.parametrize("name", ["../config", "a/b", "", ".hidden", "a b", "a\0", "home/me/app.py", "x" * 100])
def test_a_name_that_could_be_a_path_is_none(tmp_path, name):
    (tmp_path / "config.md").write_text("x")
    put(tmp_path, ".hidden", "x")
    assert find_custom_command(tmp_path, name) is None


def test_files_of_other_kinds_and_empty_ones_are_no_commands(tmp_path):
    put(tmp_path, "empty", "---\ndescription: x\n---\n")
    put(tmp_path, "good", "x")
    (tmp_path / "commands" / "note.txt").write_text("x")
    (tmp_path / "commands" / "folder.md").mkdir()
    assert [command.name for command in find_custom_commands(tmp_path)] == ["good"]
    assert find_custom_commands(tmp_path / "missing") == find_custom_commands(None) == []
