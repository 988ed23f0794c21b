"""The answer to initialize: valid for any editor, and what it depends on."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.protocol.initialize import AGENT_METHOD, SETUP_METHOD, answer
from tests.support.schema import faults

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
capability_names = st.sampled_from(
    ["clientCapabilities", "capabilities", "auth", "terminal", "_meta", "terminal-auth", "fs", "clientInfo"]
)
nested = st.recursive(json_values, lambda inner: st.dictionaries(capability_names, inner, max_size=4), max_leaves=20)


def methods(capabilities: Any) -> list[str]:
    return [
        method["id"] for method in answer({"protocolVersion": 1, "clientCapabilities": capabilities})["authMethods"]
    ]


@settings(max_examples=50)
@given(st.dictionaries(capability_names, nested))
def test_any_params_get_a_valid_answer(params: dict[str, Any]) -> None:
    result = answer({"protocolVersion": 1, **params})
    assert not faults("InitializeResponse", result)
    assert json.loads(json.dumps(result)) == result


def test_the_agent_method_is_always_there_and_the_terminal_one_only_when_it_can_be_run() -> None:
    assert methods({"auth": {"terminal": True}}) == [AGENT_METHOD, SETUP_METHOD]
    for absent in ({}, None, [], {"auth": None}, {"auth": True}, {"auth": {}}, {"terminal": True}):
        assert methods(absent) == [AGENT_METHOD]


@pytest.mark.parametrize("value", [False, None, 1, "true", []])
def test_a_malformed_flag_is_not_an_offer(value: Any) -> None:
    assert methods({"auth": {"terminal": value}}) == [AGENT_METHOD]


def test_a_newer_editor_is_understood() -> None:
    result = answer({"protocolVersion": 2, "capabilities": {"auth": {"terminal": {}}}, "info": {"name": "x"}})
    assert [method["id"] for method in result["authMethods"]] == [AGENT_METHOD, SETUP_METHOD]


def test_the_terminal_login_adds_its_argument_to_the_launch_that_the_editor_knows() -> None:
    result = answer({"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}})
    setup = result["authMethods"][1]
    assert (setup["type"], setup["args"]) == ("terminal", ["setup"])
    assert "_meta" not in setup


def test_an_older_editor_gets_a_whole_command_that_does_not_depend_on_the_name_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["another name"])
    capabilities = {"auth": {"terminal": True}, "_meta": {"terminal-auth": True}}
    result = answer({"protocolVersion": 1, "clientCapabilities": capabilities})
    login = result["authMethods"][1]["_meta"]["terminal-auth"]
    assert [login["command"], *login["args"]] == [sys.executable, "-m", "hermes_acp", "setup"]


def test_what_is_advertised() -> None:
    capabilities = answer({"protocolVersion": 1})["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert set(capabilities["sessionCapabilities"]) == {
        *("list", "resume", "close", "delete", "fork", "additionalDirectories"),
    }
    assert capabilities["auth"] == {"logout": {}}
    assert capabilities["_meta"]["hermes"] == {"status": "_hermes/status", "step": "_hermes/step"}
