"""Values and rules are put into the person's file, and nothing else in it is touched."""

import tomllib

import pytest

from hermes_acp.approval_rules import Rule
from hermes_acp.config_keys import parse_config
from hermes_acp.errors import ConfigError
from hermes_acp.settings.edit import add_rule, set_values, store_rules

RULE = Rule("allow", command='echo "ü" \\ \u202e\n > x', cwd="/tmp/a b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n",
        '[model]\nname = "x" # note\n',
        '[approvals]\nmode = "plan"\n\n[agent]\nmax_turns = 3',
        '[[approvals.rules]]\ndecision = "deny"\ntool = "x"\n[agent]\nmax_turns = 3\n',
    ],
)
def test_a_rule_is_added_and_all_else_stays(text):
    added = add_rule(text, RULE)
    assert added.startswith(text.rstrip())
    before, after = (parse_config(tomllib.loads(each), "c") for each in (text, added))
    assert after.approvals.rules == (*before.approvals.rules, RULE)
    assert (after.model, after.agent, after.approvals.mode) == (before.model, before.agent, before.approvals.mode)


@pytest.mark.parametrize("text", ["[approvals]\nrules = []\n", 'approvals = {mode = "ask"}\n'])
def test_a_form_to_which_nothing_can_be_added_is_left_to_the_person(text):
    with pytest.raises(ConfigError, match="write into it: allow the command"):
        add_rule(text, RULE)


def test_rules_are_stored_once_and_the_file_keeps_its_mode(tmp_path):
    file = tmp_path / "new" / "config.toml"
    store_rules(file, [RULE])
    file.chmod(0o640)
    store_rules(file, [RULE, Rule("allow", tool="x")])
    assert parse_config(tomllib.loads(file.read_text()), "c").approvals.rules == (RULE, Rule("allow", tool="x"))
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[model]\nname = "new"\n'),
        ("# mine\n", '# mine\n\n[model]\nname = "new"\n'),
        ('[model]\nname = "old" # why\nprovider = "x"\n', '[model]\nname = "new"\nprovider = "x"\n'),
        (
            '[ model ] # it\n"name" = "old"\n\n[agent]\nmax_turns = 3\n',
            '[ model ] # it\nname = "new"\n\n[agent]\nmax_turns = 3\n',
        ),
        ("[agent]\nmax_turns = 3", '[agent]\nmax_turns = 3\n\n[model]\nname = "new"\n'),
        ('[model]\r\nname = "old"\r\ncontext_window = 5\r\n', '[model]\nname = "new"\ncontext_window = 5\n'),
    ],
)
def test_a_value_is_changed_and_all_else_stays(before, after):
    assert set_values(before, "model", {"name": "new", "base_url": ""}).replace("\r", "") == after


@pytest.mark.parametrize(
    "before",
    [
        'model = {name = "old"}\n',
        'model.name = "old"\n',
        '[model]\nprovider = """\n[model]\nname = "x"\n"""\nname = "old"\n',
        '[[model]]\nname = "x"\n',
    ],
)
def test_a_file_that_cannot_be_changed_by_lines_is_left_to_the_person(before):
    with pytest.raises(ConfigError, match=r'model\.name = "new"'):
        set_values(before, "model", {"name": "new"})
