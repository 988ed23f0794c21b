"""What a config file can say, and how it is told what is wrong with it."""

import re
import tomllib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.config import MODES, STRICTNESS, AcpConfig, AgentConfig, ApprovalsConfig, Config, ModelConfig
from hermes_acp.config_keys import parse_config, tighten
from hermes_acp.errors import ConfigError

EVERYTHING = """
[model]
provider = "openai"
name = "gpt-x"
base_url = "https://api.openai.com/v1/"
api_mode = "codex_responses"
api_key_env = "WORK_KEY"
context_window = 200000
[agent]
max_turns = 20
stall_timeout = 30
[approvals]
mode = "plan"
timeout = 60.5
[acp]
announce = "never"
"""


def refusal(text, read=parse_config):
    with pytest.raises(ConfigError) as caught:
        read(tomllib.loads(text), "config.toml")
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("config.toml: ")
    return line


def test_everything_that_can_be_set():
    assert parse_config(tomllib.loads(EVERYTHING), "config.toml") == Config(
        ModelConfig("openai", "gpt-x", "https://api.openai.com/v1", "codex_responses", "WORK_KEY", 200_000),
        AgentConfig(20, 30.0),
        ApprovalsConfig("plan", 60.5),
        AcpConfig("never"),
    )


def test_nothing_set_means_the_defaults():
    assert parse_config({}, "config.toml") == Config()


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ('[model]\nnmae = "x"', "model.nmae", "did you mean model.name?"),
        ('[modle]\nname = "x"', "modle", "did you mean model?"),
        ("max_turns = 3", "max_turns", "did you mean agent.max_turns?"),
        ("[acp]\nzzz = 1", "acp.zzz", "unknown key"),
        ("model = 3", "model", "must be a table, not a number"),
        ("[model]\nname = 3", "model.name", "must be a text, not a number"),
        ('[model]\nname = "a\\nb"', "model.name", "one line"),
        ("[model]\nname = true", "model.name", "not true or false"),
        ('[agent]\nmax_turns = "3"', "agent.max_turns", "must be a whole number, not a text"),
        ("[agent]\nmax_turns = 3.0", "agent.max_turns", "must be a whole number"),
        ("[agent]\nmax_turns = true", "agent.max_turns", "must be a whole number"),
        ("[agent]\nmax_turns = 0", "agent.max_turns", "at least 1"),
        ("[agent]\nmax_turns = 99999999999", "agent.max_turns", "too large"),
        ("[agent]\nstall_timeout = nan", "agent.stall_timeout", "number of seconds"),
        ("[agent]\nstall_timeout = inf", "agent.stall_timeout", "number of seconds"),
        ("[agent]\nstall_timeout = 1979-05-27", "agent.stall_timeout", "not a date or time"),
        ("[approvals]\ntimeout = -1", "approvals.timeout", "from 0 on"),
        ('[approvals]\nmode = "yolo"', "approvals.mode", "ask, accept_edits, auto or plan"),
        ('[approvals]\nmode = "accept-edits"', "approvals.mode", "did you mean accept_edits?"),
        ('[acp]\nannounce = "sometimes"', "acp.announce", "always or never"),
        ('[model]\napi_mode = "chat"', "model.api_mode", "chat_completions"),
        ('[model]\nbase_url = "api.openai.com/v1"', "model.base_url", "http or https address"),
        ('[model]\nbase_url = "file:///etc/passwd"', "model.base_url", "http or https address"),
        ('[model]\nbase_url = "https://me:pw@host/v1"', "model.base_url", "name or password"),
        ('[model]\nbase_url = "https://host:99999/v1"', "model.base_url", "ort"),
        ('[model]\nbase_url = "https://[::1/v1"', "model.base_url", "IPv6"),
        ("[model]\nbase_url = []", "model.base_url", "must be a text, not a list"),
    ],
)
def test_a_wrong_key_or_value_is_named_in_one_line(text, key, reason):
    line = refusal(text)
    assert line.startswith(f"config.toml: {key}: ")
    assert reason in line


@pytest.mark.parametrize(
    "text", ['[model]\napi_key = "sk-SECRET"', 'api_key = "sk-SECRET"', '[model]\napi_key_env = "sk-SECRET"']
)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(text):
    line = refusal(text)
    assert "SECRET" not in line
    assert "setup" in line or "not the key itself" in line


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(["model", "agent", "approvals", "acp", "name", "max_turns", "mode", "base_url"]) | st.text()


@given(st.dictionaries(keys, values | st.dictionaries(keys, values)))
def test_any_table_is_read_or_refused_in_one_line(data):
    for read in (parse_config, partial(tighten, Config())):
        line = outcome(read, data)
        assert line.splitlines() == [line]


def outcome(read, data):
    try:
        return type(read(data, "c")).__name__
    except ConfigError as error:
        return str(error)


@given(st.sampled_from(MODES), st.sampled_from(MODES), st.integers(1, 999), st.integers(1, 999))
def test_a_project_only_ever_tightens(mine, theirs, my_turns, their_turns):
    config = Config(agent=AgentConfig(max_turns=my_turns), approvals=ApprovalsConfig(mode=mine))
    result = tighten(config, {"approvals": {"mode": theirs}, "agent": {"max_turns": their_turns}}, "p")
    assert STRICTNESS.index(result.approvals.mode) == max(map(STRICTNESS.index, (mine, theirs)))
    assert result.agent.max_turns == min(my_turns, their_turns)


def test_a_project_changes_nothing_else():
    config = parse_config(tomllib.loads(EVERYTHING), "c")
    assert tighten(config, {}, "p") == config
    assert tighten(config, {"agent": {"max_turns": 1}}, "p").model == config.model


@pytest.mark.parametrize(
    "text",
    [
        '[model]\nbase_url = "http://evil.example"',
        '[model]\nname = "x"',
        "[agent]\nstall_timeout = 5",
        "[approvals]\ntimeout = 5",
        '[acp]\nannounce = "never"',
        '[[fallback_providers]]\nbase_url = "http://evil.example"',
        '[auxiliary.vision]\nmodel = "x"',
        '[credentials]\ncommand = "touch /tmp/x"',
        '[[approvals.rules]]\ndecision = "allow"',
        'evil = "x"',
    ],
)
def test_a_project_may_set_nothing_else(text):
    refusal(text, lambda data, source: tighten(Config(), data, source))


def test_a_wrong_value_in_a_project_is_refused():
    assert "agent.max_turns" in refusal("[agent]\nmax_turns = -3", lambda d, s: tighten(Config(), d, s))


CHAINS = """
[[fallback_providers]]
provider = "openrouter"
model = "x/y"
[[fallback_providers]]
base_url = "http://127.0.0.1:1/v1/"
model = "local"
api_mode = "chat_completions"
api_key_env = "LOCAL_KEY"
[auxiliary.vision]
model = "eyes"
[[auxiliary.vision.fallback]]
provider = "openai"
[auxiliary.title]
provider = "ollama"
model = "small"
[credentials]
command = "pass show 'api key'"
[agent]
fallback_cooldown = 5
"""


def test_reserves_side_tasks_and_the_command_for_the_key():
    config = parse_config(tomllib.loads(CHAINS), "config.toml")
    local = ModelConfig("", "local", "http://127.0.0.1:1/v1", "chat_completions", "LOCAL_KEY")
    assert config.fallback_providers == (ModelConfig("openrouter", "x/y"), local)
    assert config.auxiliary == {
        "vision": (ModelConfig("", "eyes"), ModelConfig("openai")),
        "title": (ModelConfig("ollama", "small"),),
    }
    assert config.credentials.command == ("pass", "show", "api key")
    assert config.agent.fallback_cooldown == 5.0
    assert config.key_variables == {"LOCAL_KEY"}
    assert parse_config({"credentials": {"command": ["a", "b c"]}}, "c").credentials.command == ("a", "b c")


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("fallback_providers = 3", "fallback_providers", "must be a list of tables, not a number"),
        ('[fallback_providers]\nmodel = "x"', "fallback_providers", "must be a list of tables, not a table"),
        ('fallback_providers = ["x"]', "fallback_providers (entry 1)", "must be a table, not a text"),
        (
            '[[fallback_providers]]\nmodel = "a"\n[[fallback_providers]]\nmodle = "b"',
            "fallback_providers (entry 2).modle",
            "did you mean model?",
        ),
        ("[[fallback_providers]]\nmodel = 3", "fallback_providers (entry 1).model", "must be a text, not a number"),
        (
            '[[fallback_providers]]\napi_mode = "chat_completions"',
            "fallback_providers (entry 1)",
            "must name a provider, a model or a base_url",
        ),
        (
            '[[fallback_providers]]\nbase_url = "ftp://x"',
            "fallback_providers (entry 1).base_url",
            "http or https address",
        ),
        ('[auxiliary.visoin]\nmodel = "x"', "auxiliary.visoin", "did you mean auxiliary.vision?"),
        ("[auxiliary]\nvision = 3", "auxiliary.vision", "must be a table, not a number"),
        ("[auxiliary.vision]", "auxiliary.vision", "must name a provider"),
        (
            '[auxiliary.title]\nmodel = "x"\nfallback = [{model = "y"}, {modl = "z"}]',
            "auxiliary.title.fallback (entry 2).modl",
            "did you mean model?",
        ),
        ("[credentials]\ncommand = 3", "credentials.command", "must be a list of texts, or one text, not a number"),
        ('[credentials]\ncommand = ["a", 3]', "credentials.command", "must be a list of texts"),
        ('[credentials]\ncommand = "a \'b"', "credentials.command", "quotation marks"),
        ('[credentials]\ncommand = ["", "x"]', "credentials.command", "name of a program"),
        ("[agent]\nfallback_cooldown = -1", "agent.fallback_cooldown", "from 0 on"),
    ],
)
def test_a_wrong_reserve_is_named_with_its_place(text, key, reason):
    line = refusal(text)
    assert line.startswith(f"config.toml: {key}: ")
    assert reason in line


@pytest.mark.parametrize(
    "text",
    [
        '[[fallback_providers]]\nmodel = "x"\napi_key = "sk-SECRET"',
        '[[fallback_providers]]\nmodel = "x"\napi_key_env = "sk-SECRET"',
        '[auxiliary.title]\nmodel = "x"\ntoken = "sk-SECRET"',
        '[credentials]\nkey = "sk-SECRET"',
    ],
)
def test_a_key_beside_a_reserve_is_refused_and_not_repeated(text):
    assert "SECRET" not in refusal(text)


@pytest.mark.parametrize("table", ["fallback_providers", "auxiliary", "credentials"])
def test_a_project_sets_no_reserve_no_side_task_and_no_command(table):
    data = {table: tomllib.loads(CHAINS)[table]}
    with pytest.raises(ConfigError, match=rf"project: {table}.*: a project's file may only set"):
        tighten(Config(), data, "project")


def test_the_defaults_in_the_documentation_are_those_of_the_code():
    table = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    told = re.findall(r"`(\w+)\.(\w+)` \(`?([\w.]+)`?[,)]", table)
    found = {}
    for section, key, value in told:
        default = getattr(getattr(Config(), section), key)
        if default is not None and not isinstance(getattr(Config(), section), ModelConfig):
            found[f"{section}.{key}"] = (str(default).lower().removesuffix(".0"), value)
    assert len(found) >= 13
    assert {name: pair for name, pair in found.items() if pair[0] != pair[1]} == {}
