"""The tools as a model and the gate see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from hermes_acp.tools.arguments import explain
from hermes_acp.tools.registry import discover

TOOLS = discover()


def test_the_tools_are_there_in_a_fixed_order() -> None:
    assert list(TOOLS) == sorted(TOOLS)
    assert {"list_files", "patch", "read_file", "search_files", "terminal", "write_file"} <= set(TOOLS)
    assert list(discover()) == list(TOOLS)


def test_every_module_with_a_tool_names_it_like_itself() -> None:
    for name, tool in TOOLS.items():
        assert (name, tool.params.__module__.rpartition(".")[2]) == (tool.name, tool.name)


@pytest.mark.parametrize(
    ("names", "effect"),
    [
        (("read_file", "list_files", "search_files", "process"), "read"),
        (("write_file", "patch"), "edit"),
        (("terminal",), "execute"),
    ],
)
def test_the_effects_are_what_the_gate_decides_by(names: tuple[str, ...], effect: str) -> None:
    assert {TOOLS[name].effect for name in names} == {effect}


def test_the_schemas_are_small_and_plain() -> None:
    schemas = [tool.schema() for tool in TOOLS.values()]
    assert len(json.dumps(schemas)) <= 5_000
    for schema in schemas:
        assert schema["description"]
        assert "  " not in schema["description"]
        assert "title" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("read_file", {"path": "a", "offset": "10", "limit": 5.0, "encoding": "x"}, {"offset": 10, "limit": 5}),
        ("read_file", {"path": "a", "offset": None, "limit": None}, {"offset": 1, "limit": 2000}),
        ("read_file", {"file_path": "a"}, {"path": "a"}),
        ("patch", {"path": "a", "old_string": "x", "new_string": "y"}, {"old_text": "x", "new_text": "y"}),
        ("patch", {"path": "a", "old_text": "x", "new_text": "y", "replace_all": "true"}, {"replace_all": True}),
        ("write_file", {"path": "a", "content": 12}, {"content": "12"}),
        ("terminal", {"cmd": "ls", "timeout": "30"}, {"command": "ls", "timeout": 30.0}),
        ("search_files", {"query": "x"}, {"pattern": "x"}),
        ("write_file", {"path": "a\ud835", "content": "\udcb2"}, {"path": "a\ufffd", "content": "\ufffd"}),
    ],
)
def test_slightly_wrong_arguments_are_understood(
    name: str, written: dict[str, object], meant: dict[str, object]
) -> None:
    args = TOOLS[name].params.model_validate(written).model_dump()
    assert {key: args[key] for key in meant} == meant


def test_a_name_that_is_given_rightly_beats_another_for_the_same() -> None:
    args = TOOLS["patch"].params.model_validate({"path": "right", "file": "wrong", "old_text": "o", "new_text": "n"})
    assert args.model_dump()["path"] == "right"


@pytest.mark.parametrize(
    ("name", "written", "words"),
    [
        ("read_file", {}, ["path is missing"]),
        ("read_file", {"path": "a", "offset": "ten"}, ["offset", "integer", "'ten'"]),
        ("patch", {"path": "a"}, ["old_text is missing", "new_text is missing"]),
        ("terminal", {"command": ["ls", "-l"]}, ["command", "string", "['ls', '-l']"]),
        ("write_file", {"path": "a", "content": {"a": "x" * 1000}}, ["content", "string"]),
    ],
)
def test_wrong_arguments_are_refused_in_words_that_say_what_to_change(
    name: str, written: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(ValidationError) as caught:
        TOOLS[name].params.model_validate(written)
    text = explain(caught.value)
    assert all(word in text for word in words)
    assert len(text) < 400


def test_no_tool_runs_a_models_pattern_in_pythons_own_engine() -> None:
    for module in (Path(__file__).parents[2] / "hermes_acp/tools").glob("*.py"):
        assert "import re\n" not in module.read_text(encoding="utf-8")
