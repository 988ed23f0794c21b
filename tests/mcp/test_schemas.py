"""Schemas of servers: what a provider would refuse is left out, and what may be checked is checked."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.mcp.schemas import LONGEST_DESCRIPTION, MOST_CHARACTERS, acceptable, describe, validator


def inner(schema: Any) -> list[dict[str, Any]]:
    """Every schema within a schema, itself included."""
    if not isinstance(schema, dict):
        return []
    below = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", ())]
    return [schema, *(each for one in [*below, schema.get("additionalProperties")] for each in inner(one))]


def test_references_are_put_in_place() -> None:
    place = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    found = acceptable({"type": "object", "properties": {"at": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": place}})
    assert found == {"type": "object", "properties": {"at": place}}


@pytest.mark.parametrize(
    "reference", ["https://x/y.json", "#/$defs/None", "file:///etc/passwd", 5, "#", "#/properties/a"]
)
def test_a_reference_that_leads_nowhere_or_in_a_circle_says_nothing(reference: Any) -> None:
    found = acceptable({"type": "object", "properties": {"a": {"$ref": reference, "description": "kept"}}})
    assert found["properties"]["a"]["description"] == "kept"
    assert "$ref" not in json.dumps(found)


def test_a_recursive_schema_ends() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/T"}, "right": {"$ref": "#/$defs/T"}}}
    found = acceptable({"type": "object", "properties": {"tree": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}})
    assert len(json.dumps(found)) <= MOST_CHARACTERS
    assert found["properties"]["tree"]["properties"]["left"]


def test_branches_at_the_top_become_optional_properties() -> None:
    text, number = {"type": "string"}, {"type": "number"}
    branches = [{"type": "object", "properties": {"a": text}, "required": ["a"]}, {"properties": {"b": number}}]
    assert acceptable({"oneOf": branches}) == {"type": "object", "properties": {"a": text, "b": number}}


def test_all_of_is_one() -> None:
    parts = [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "string"}}}]
    found = acceptable({"allOf": parts})
    assert set(found["properties"]) == {"a", "b"}
    assert found["required"] == ["a"]


@pytest.mark.parametrize(
    "root", [None, True, [], "x", {}, {"type": "string"}, {"properties": []}, {"type": ["object", 5]}]
)
def test_whatever_is_said_it_is_an_object(root: Any) -> None:
    assert acceptable(root) == {"type": "object", "properties": {}}


def test_missing_types_are_filled_in_where_they_can_be_told() -> None:
    found = acceptable(
        {"properties": {"a": {"enum": ["x", "y"]}, "b": {"items": {"type": "string"}}, "c": {"type": "array"}}}
    )
    assert found["properties"] == {
        "a": {"type": "string", "enum": ["x", "y"]},
        "b": {"type": "array", "items": {"type": "string"}},
        "c": {"type": "array", "items": {}},
    }


def test_names_that_a_provider_refuses_are_left_out() -> None:
    found = acceptable({"properties": {"ok": {}, "not ok": {}, "": {}, "x" * 65: {}}, "required": ["not ok", "ok"]})
    assert found == {"type": "object", "properties": {"ok": {}}, "required": ["ok"]}


def test_what_is_too_large_is_made_smaller_and_never_refused() -> None:
    wordy = {f"p{n}": {"type": "string", "description": "words " * 60} for n in range(60)}
    found = acceptable({"type": "object", "properties": wordy})
    assert len(json.dumps(found)) <= MOST_CHARACTERS
    assert set(found["properties"]) == set(wordy)
    assert acceptable({"properties": {f"p{n}": {"type": "string"} for n in range(5_000)}}) == {
        "type": "object",
        "properties": {},
    }


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b", "\U000e0041"])
def test_descriptions_hide_nothing_and_are_capped(hidden: str) -> None:
    assert hidden not in describe(f"before{hidden}after \ud800")
    assert len(describe("x" * 10_000)) == LONGEST_DESCRIPTION
    assert hidden not in json.dumps(
        acceptable({"properties": {"a": {"description": hidden + "x"}}}), ensure_ascii=False
    )


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
words = st.sampled_from(
    [
        *("type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const", "required", "a"),
        *("minimum", "additionalProperties", "default", "description", "pattern", "object", "array", "string"),
        *("#/$defs/a", "#/properties/a"),
    ]
)
hostile = st.recursive(
    values | words, lambda below: st.lists(below, max_size=4) | st.dictionaries(words, below, max_size=6), max_leaves=30
)


@given(hostile, st.dictionaries(words, hostile, max_size=4))
def test_any_schema_becomes_one_that_can_be_sent_and_checked_with(schema: Any, arguments: dict[str, Any]) -> None:
    found = acceptable(schema)
    assert found["type"] == "object"
    text = json.dumps(found, allow_nan=False)
    assert len(text) <= MOST_CHARACTERS
    for each in inner(found):
        assert not {"$ref", "pattern", "oneOf", "allOf", "const", "$defs"} & set(each)
        assert "array" not in str(each.get("type")) or "items" in each
    assert isinstance(validator(found)(arguments), str)


def test_arguments_are_checked_in_words() -> None:
    fault = validator(acceptable({"properties": {"n": {"type": "integer"}, "s": {"enum": ["a"]}}, "required": ["n"]}))
    assert fault({"n": 1, "s": "a", "more": 1}) == ""
    assert fault({}) == "'n' is a required property"
    assert fault({"n": "one"}).startswith("n: 'one' is not of type 'integer'")
    assert len(fault({"n": "x" * 10_000})) <= 300


def test_a_servers_pattern_never_runs_over_what_a_model_writes() -> None:
    found = acceptable({"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}})
    assert validator(found)({"a": "a" * 50 + "!"}) == ""
