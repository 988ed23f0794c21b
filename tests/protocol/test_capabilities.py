"""What an editor offers: each flag by itself, nothing by mistake."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol.capabilities import ClientCapabilities

OFFERS: list[tuple[str, dict[str, Any]]] = [
    ("read_files", {"fs": {"readTextFile": True}}),
    ("write_files", {"fs": {"writeTextFile": True}}),
    ("terminals", {"terminal": True}),
    ("forms", {"elicitation": {"form": {}}}),
    ("notices", {"session": {"notices": {}}}),
    ("compaction", {"session": {"compaction": {}}}),
]
FLAGS = [name for name, _ in OFFERS]


def offered(capabilities: Any) -> set[str]:
    found = ClientCapabilities.of({"protocolVersion": 1, "clientCapabilities": capabilities})
    return {name for name in FLAGS if getattr(found, name)}


def with_leaf(value: Any, leaf: Any) -> Any:
    """The value with its innermost member replaced."""
    if value is True or value == {}:
        return leaf
    return {name: with_leaf(inner, leaf) for name, inner in value.items()}


@pytest.mark.parametrize(("name", "capabilities"), OFFERS)
def test_each_offer_stands_by_itself(name: str, capabilities: dict[str, Any]) -> None:
    assert offered(capabilities) == {name}


@pytest.mark.parametrize(("name", "capabilities"), OFFERS)
@pytest.mark.parametrize("leaf", [None, False, 0, 1, "true", [], [1]])
def test_a_null_or_malformed_offer_is_none(name: str, capabilities: dict[str, Any], leaf: Any) -> None:
    assert offered(with_leaf(capabilities, leaf)) == set()


@pytest.mark.parametrize("capabilities", [None, [], True, "x", {}, {"fs": None}, {"fs": True}, {"elicitation": {}}])
def test_nothing_is_offered_by_mistake(capabilities: Any) -> None:
    assert offered(capabilities) == set()


names = st.sampled_from(["fs", "session", "elicitation", "auth", "clientCapabilities", "clientInfo", "info", "name"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4),
)


@given(st.dictionaries(names, values))
def test_no_params_raise(params: dict[str, Any]) -> None:
    found = ClientCapabilities.of(params)
    assert all(isinstance(getattr(found, field.name), bool) for field in fields(found))


def test_newer_editors_name_them_capabilities() -> None:
    assert ClientCapabilities.of({"capabilities": {"elicitation": {"form": {}}}}).forms
