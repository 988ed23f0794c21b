"""A refusal of a settings file names the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.config_keys import read_values
from hermes_acp.errors import ConfigError
from hermes_acp.settings.files import read_toml
from hermes_acp.settings.located import located


def refusal(file, text):
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught, located(file):
        read_values(read_toml(file), str(file))
    return str(caught.value).removeprefix(str(file))


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ('[model]\n# a\nnmae = "x"', ":3: model.nmae: unknown key"),
        ('\n[agent]\n"max_turns" = "seven"', ":3: agent.max_turns: must be a whole number"),
        ("model = 3", ":1: model: must be a table"),
        ("[agent]\n\n[tabel]\nx = 1", ":3: tabel: unknown key"),
        (
            '[[approvals.rules]]\ndecision = "deny"\nprefix = ["a"]\n[[approvals.rules]]\ndecision = "deny"\nprefx = 1',
            ":6: approvals.rules: rule 2: unknown key prefx",
        ),
        (
            '[[fallback_providers]]\nmodel = "x"\n[[fallback_providers]]\nmodel = 3',
            ":4: fallback_providers (entry 2).model: must be a text",
        ),
        ('[mcp_servers.one]\ncommand = "x"\n[mcp_servers.two]\ncmd = "y"', ":4: mcp_servers: two.cmd: unknown key"),
        ("agent = { max_turns = 0 }", ": agent.max_turns: must be at least 1"),
        (
            "[model]\nname = x",
            ": not valid TOML: Invalid value (at line 2, column 8); a text stands in quotation",
        ),
        ('[model]\nname = "a"\nname = "b"', ": not valid TOML: Cannot overwrite a value"),
    ],
)
def test_the_line_is_the_one_to_be_mended(tmp_path, text, begins):
    assert refusal(tmp_path / "config.toml", text).startswith(begins)


def test_what_is_refused_elsewhere_stays_as_it_is(tmp_path):
    with pytest.raises(ConfigError, match=r"^HERMES_ACP_MODE: no$"), located(tmp_path / "config.toml"):
        raise ConfigError("HERMES_ACP_MODE: no")


@given(st.text(max_size=200), st.text(max_size=60))
def test_no_file_and_no_reason_make_it_fail(tmp_path_factory, text, reason):
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught, located(file):
        raise ConfigError(f"{file}: {reason}")
    assert str(caught.value).endswith(reason)
