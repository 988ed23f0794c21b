"""JSON Schemas of others, made into ones that every provider takes and that are safe to check arguments with.

References are put in place, keywords that some provider refuses are left out, and what is too large is made
smaller. Patterns are left out as well: a server's regular expression must not run over a model's text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from hermes_acp.text import clean, shorten, visible

Schema = dict[str, Any]

MOST_CHARACTERS = 12_000
"""Of one tool's schema as JSON; one that is larger loses descriptions, then its inner structure."""

LONGEST_DESCRIPTION = 1_024
"""Characters of a tool's description: some providers refuse more."""

_LONGEST_NOTE = 500
_DEEPEST = 10
_MOST_CHOICES = 100
_MOST_NODES = 2_000
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def describe(text: str | None) -> str:
    """A description fit for a model: no hidden characters, and not too long."""
    return shorten(visible(clean(text or "")).strip(), LONGEST_DESCRIPTION)


def acceptable(schema: Any) -> Schema:
    """The parameters of a function that a server's schema stands for; always of type object."""
    reading = _Reading(schema if isinstance(schema, Mapping) else {})
    for deepest, notes in ((_DEEPEST, True), (_DEEPEST, False), (3, False), (2, False)):
        found = reading.parameters(deepest, notes)
        if len(json.dumps(found)) <= MOST_CHARACTERS:
            return found
    return {"type": "object", "properties": {}}


class _Reading:
    """One schema being read: `root` is where its references point into."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = 0
        self._deepest = 0
        self._notes = True

    def parameters(self, deepest: int, notes: bool) -> Schema:
        self._left, self._deepest, self._notes = _MOST_NODES, deepest, notes
        found = self._node(self._root, 0)
        branches = [branch for branch in found.pop("anyOf", ()) if isinstance(branch, dict)]
        properties = dict(found.get("properties", {}))
        for branch in branches:
            properties = {**branch.get("properties", {}), **properties}
        required = [name for name in found.get("required", ()) if name in properties]
        result: Schema = {"type": "object", "properties": properties}
        return result | ({"required": required} if required else {})

    def _node(self, node: Any, depth: int) -> Schema:
        self._left -= 1
        if not isinstance(node, Mapping) or depth > self._deepest or self._left < 0:
            return {}
        node = self._merged(self._resolved(node))
        found: Schema = {}
        if self._notes and isinstance(note := node.get("description"), str) and note.strip():
            found["description"] = shorten(visible(clean(note)).strip(), _LONGEST_NOTE)
        found |= _plain_keywords(node)
        if branches := self._branches(node, depth):
            found["anyOf"] = branches
        if "object" in _types(found) and isinstance(node.get("properties"), Mapping):
            found |= self._properties(node, depth)
        if "array" in _types(found):
            found["items"] = self._node(node.get("items"), depth + 1)
        extra = node.get("additionalProperties")
        if "object" in _types(found) and extra is not None:
            found["additionalProperties"] = extra if isinstance(extra, bool) else self._node(extra, depth + 1)
        return found

    def _resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """The node with what its reference points at; one that leads elsewhere, or in a circle, says nothing."""
        for _ in range(_DEEPEST):
            if "$ref" not in node:
                return node
            target = self._find(node["$ref"])
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return {key: value for key, value in node.items() if key != "$ref"}

    def _find(self, reference: Any) -> Mapping[str, Any]:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {}
        found: Any = self._root
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def _merged(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """The node with all of its `allOf` in one."""
        parts = node.get("allOf")
        if not isinstance(parts, list):
            return node
        merged: dict[str, Any] = {}
        for part in [*parts, {key: value for key, value in node.items() if key != "allOf"}]:
            if isinstance(part, Mapping):
                _merge(merged, self._resolved(part))
        return merged

    def _branches(self, node: Mapping[str, Any], depth: int) -> list[Schema]:
        branches = node.get("anyOf", node.get("oneOf"))
        if not isinstance(branches, list):
            return []
        found = [self._node(branch, depth + 1) for branch in branches[:_MOST_CHOICES]]
        return found if all(found) else []

    def _properties(self, node: Mapping[str, Any], depth: int) -> Schema:
        properties = {
            name: self._node(value, depth + 1)
            for name, value in node["properties"].items()
            if isinstance(name, str) and _KEY.fullmatch(name) and value is not False
        }
        required = [name for name in _texts(node.get("required")) if name in properties]
        return {"properties": properties} | ({"required": required} if required else {})


def _merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if key == "properties" and isinstance(value, Mapping) and isinstance(into.get(key), Mapping):
            into[key] = {**into[key], **value}
        elif key == "required" and isinstance(value, list) and isinstance(into.get(key), list):
            into[key] = [*into[key], *value]
        else:
            into[key] = value


def _plain_keywords(node: Mapping[str, Any]) -> Schema:
    """What says something by itself, without inner schemas."""
    found: Schema = {}
    kinds = node.get("type")
    named = [kinds] if isinstance(kinds, str) else _texts(kinds)
    known = [kind for kind in named if kind in _TYPES] or _implied(node)
    if known:
        found["type"] = known[0] if len(known) == 1 else list(dict.fromkeys(known))
    choices = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= _MOST_CHOICES and all(map(_is_plain, choices)):
        found["enum"] = [clean(choice) if isinstance(choice, str) else choice for choice in choices]
    found |= {key: node[key] for key in _LIMITS if _is_number(node.get(key))}
    if "default" in node and _is_plain(node["default"]):
        found["default"] = clean(node["default"]) if isinstance(node["default"], str) else node["default"]
    return found


def _implied(node: Mapping[str, Any]) -> list[str]:
    """The type that a node without one must mean; [] when it may be anything."""
    if "properties" in node:
        return ["object"]
    if "items" in node:
        return ["array"]
    choices = node.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(choice, str) for choice in choices):
        return ["string"]
    return []


def _types(found: Schema) -> tuple[str, ...]:
    kinds = found.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def _texts(value: Any) -> list[str]:
    """The value, if it is a list of texts."""
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_plain(value: Any) -> bool:
    """A value that may stand in a schema: no structure, and writable as JSON."""
    return value is None or isinstance(value, str | bool) or _is_number(value)


Validate = Callable[[Mapping[str, Any]], str]


def validator(schema: Schema) -> Validate:
    """What is wrong with arguments by an acceptable schema, in words; "" when nothing is."""
    from jsonschema import Draft202012Validator

    checker = Draft202012Validator(schema)

    def fault(arguments: Mapping[str, Any]) -> str:
        error = next(checker.iter_errors(dict(arguments)), None)
        if error is None:
            return ""
        place = ".".join(map(str, error.absolute_path))
        return shorten(f"{place}: {error.message}" if place else str(error.message), 300)

    return fault
