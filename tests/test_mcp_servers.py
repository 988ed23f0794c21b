"""The servers in a config file: read strictly, told by name, never from a project."""

from typing import Any

import pytest

from hermes_acp.config_keys import parse_config, tighten
from hermes_acp.errors import ConfigError
from hermes_acp.mcp_servers import CALL_SECONDS, ProgramServer, RemoteServer


def parsed(**servers: Any) -> tuple[Any, ...]:
    return parse_config({"mcp_servers": servers}, "config.toml").mcp_servers


def test_a_program_and_an_address() -> None:
    files = {
        "command": "npx",
        "args": ["-y", "files"],
        "env": {"A": "b"},
        "inherit": ["K"],
        "timeout": 5,
        "tools": ["a"],
    }
    far = {"url": "https://x/mcp", "headers": {"A": "b"}, "headers_env": {"Authorization": "KEY"}}
    assert parsed(files=files, far=far, old={"url": "http://x/sse", "type": "sse"}) == (
        ProgramServer("files", "npx", ("-y", "files"), (("A", "b"),), ("K",), 5.0, frozenset({"a"})),
        RemoteServer("far", "https://x/mcp", "http", (("A", "b"),), (("Authorization", "KEY"),), CALL_SECONDS),
        RemoteServer("old", "http://x/sse", "sse"),
    )


def test_one_that_is_turned_off_is_not_there() -> None:
    assert parsed(a={"command": "x", "enabled": False}, b={"command": "y", "enabled": True}) == (
        ProgramServer("b", "y"),
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (5, "a: must be a table"),
        ({}, "a: needs a command to start, or a url"),
        ({"command": ""}, "a: needs a command"),
        ({"command": ["npx"]}, "a.command: must be a text"),
        ({"command": "x", "args": "-y"}, "a.args: must be a list of texts"),
        ({"command": "x", "env": {"A": 1}}, "a.env: must be a table of texts"),
        ({"command": "x", "arg": []}, "a.arg: unknown key (did you mean args?)"),
        ({"command": "x", "headers": {}}, "a.headers: unknown key"),
        ({"command": "x", "timeout": 0}, "a.timeout: must be a number of seconds from 1 on"),
        ({"command": "x", "timeout": True}, "a.timeout"),
        ({"command": "x", "enabled": "no"}, "a.enabled: must be true or false"),
        ({"command": "x", "type": "http"}, "a.type: must be stdio"),
        ({"url": "ftp://x"}, "a.url: must be an http or https address"),
        ({"url": "https://me:secret@x"}, "a.url: must be an http or https address without a name and password"),
        ({"url": "https://x", "type": "ws"}, "a.type: must be http or sse"),
        ({"url": "https://x", "command": "y"}, "a.command: unknown key"),
    ],
)
def test_what_is_wrong_is_told_by_its_name(table: Any, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        parsed(a=table)
    assert str(error.value).startswith("config.toml: mcp_servers: ")
    assert words in str(error.value)
    assert "secret@" not in str(error.value)


@pytest.mark.parametrize("value", [5, [], "x", {"\n": {"command": "x"}}, {" ": {"command": "x"}}])
def test_what_is_no_table_of_servers_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError):
        parse_config({"mcp_servers": value}, "config.toml")


def test_a_project_names_no_server() -> None:
    with pytest.raises(ConfigError, match="a project's file may only set"):
        tighten(parse_config({}, "mine"), {"mcp_servers": {"evil": {"command": "x"}}}, "project")


def test_what_is_given_in_confidence_is_in_no_representation() -> None:
    server = ProgramServer("a", "x", ("--token", "sekrit"), (("KEY", "sekrit"),))
    assert "sekrit" not in repr((server, RemoteServer("b", "https://x/?key=sekrit", headers=(("A", "sekrit"),))))
