"""What a rule can say, and what no rule can."""

import tomllib

import pytest

from hermes_acp.approval_rules import Rule, read_rules
from hermes_acp.config import Config
from hermes_acp.config_keys import parse_config, tighten
from hermes_acp.errors import ConfigError


def rules(text):
    return parse_config(tomllib.loads(text), "config.toml").approvals.rules


def refusal(text, read=lambda data: parse_config(data, "config.toml")):
    with pytest.raises(ConfigError) as caught:
        read(tomllib.loads(text))
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("config.toml: approvals.rules: ")
    return line


def test_the_four_forms_of_a_rule():
    text = """
[[approvals.rules]]
decision = "allow"
prefix = ["npm", "run", "test"]
[[approvals.rules]]
decision = "ask"
path = "docs/**"
[[approvals.rules]]
decision = "deny"
tool = "web_extract"
[[approvals.rules]]
decision = "allow"
command = "python -m build"
cwd = "/work"
"""
    assert rules(text) == (
        Rule("allow", prefix=("npm", "run", "test")),
        Rule("ask", path="docs/**"),
        Rule("deny", tool="web_extract"),
        Rule("allow", command="python -m build", cwd="/work"),
    )
    assert rules("\n".join(rule.table for rule in rules(text))) == rules(text)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ('decision = "allow"', "exactly one"),
        ('prefix = ["ls"]', "allow, ask or deny"),
        ('decision = "yes"\nprefix = ["ls"]', "allow, ask or deny"),
        ('decision = "allow"\nprefix = ["ls"]\ntool = "x"', "exactly one"),
        ('decision = "allow"\nprefix = "ls"', "list of words"),
        ('decision = "allow"\nprefix = []', "list of words"),
        ('decision = "allow"\nprefix = [""]', "list of words"),
        ('decision = "allow"\nprefix = ["npm run test"]', "a word in each place"),
        ('decision = "allow"\nprefix = ["a", "\\u202e"]', "not printable"),
        ('decision = "allow"\npath = 3', "path must be a text"),
        ('decision = "allow"\npath = "../x"', "must not hold .."),
        ('decision = "allow"\ncommand = "x"', "give its cwd"),
        ('decision = "allow"\ncommand = "x"\ncwd = "sub"', "absolute"),
        ('decision = "allow"\ntool = "x"\ncwd = "/sub"', "exactly one"),
        ('decision = "allow"\ntool = "terminal"', "as a whole"),
        ('decision = "allow"\ntool = "write_file"', "as a whole"),
        ('decision = "allow"\nprefx = ["ls"]', "unknown key prefx"),
    ],
)
def test_a_rule_of_no_use_is_named_in_one_line(rule, reason):
    line = refusal(f'[[approvals.rules]]\ndecision = "deny"\ntool = "y"\n[[approvals.rules]]\n{rule}')
    assert "rule 2: " in line
    assert reason in line


@pytest.mark.parametrize(
    "program",
    [
        *("env", "sudo", "doas", "nice", "timeout", "nohup", "setsid", "xargs", "time", "watch", "parallel", "busybox"),
        *("sh", "bash", "zsh", "dash", "fish", "/bin/sh", "python", "python3", "python3.12", "/usr/bin/python", "node"),
        *(
            "perl",
            "ruby",
            "php",
            "awk",
            "gawk",
            "vim",
            "less",
            "man",
            "tar",
            "ssh",
            "rsync",
            "docker",
            "npx",
            "uvx",
            "git",
        ),
        *(
            "command",
            "exec",
            "eval",
            "source",
            ".",
            "strace",
            "gdb",
            "lua5.4",
            "deno",
            "bun",
            "sqlite3",
            "make-believe",
        ),
    ],
)
def test_no_beginning_of_a_program_that_runs_anything_can_be_allowed(program):
    for words in ([program], [program, "a", "b"]):
        if program == "make-believe":
            assert read_rules([{"decision": "allow", "prefix": words}])
            continue
        with pytest.raises(ValueError, match="can run anything"):
            read_rules([{"decision": "allow", "prefix": words}])
        assert read_rules([{"decision": "deny", "prefix": words}, {"decision": "ask", "prefix": words}])


def test_rules_that_are_no_tables_are_refused():
    for text in ("[approvals]\nrules = 3", '[approvals]\nrules = ["a"]', "[approvals.rules]\na = 1"):
        assert "must be tables" in refusal(text)


def test_a_projects_file_denies_and_asks_and_never_allows():
    mine = Config()
    text = '[[approvals.rules]]\ndecision = "deny"\ntool = "x"\n[[approvals.rules]]\ndecision = "ask"\npath = "a"'
    assert tighten(mine, tomllib.loads(text), "p").approvals.rules == (Rule("deny", tool="x"), Rule("ask", path="a"))
    allowing = '[[approvals.rules]]\ndecision = "allow"\nprefix = ["make"]'
    assert "only deny and ask" in refusal(allowing, lambda data: tighten(mine, data, "config.toml"))
    assert tighten(parse_config(tomllib.loads(allowing), "c"), {}, "p").approvals.rules == (
        Rule("allow", prefix=("make",)),
    )
