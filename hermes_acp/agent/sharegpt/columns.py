"""The columns that a file of entries has for a reader that wants one type in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass

_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class _Column:
    """What a column holds, and the line that said so first. `fields` are those of an object."""

    kind: str
    fields: tuple[str, ...]
    line: int


@dataclass(slots=True)
class Columns:
    """The columns seen so far (Arrow: a column has one type, an object the same fields everywhere)."""

    _known: dict[str, _Column] = field(default_factory=dict)

    def add(self, entry: dict[str, Any], line: int) -> Iterator[str]:
        """Take in an entry and say where it differs from those before. A null fits every type."""
        said: set[str] = set()
        for path, value in _walk("", entry):
            column = _column(value, line)
            known = self._known.setdefault(path, column) if column.kind != "null" else column
            problem = _difference(known, column)
            if problem and path not in said:
                said.add(path)
                yield f"{path or 'the entry'}: {problem}"


def _walk(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(f"{path}.{name}" if path else name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(path + "[]", inner)


def _column(value: Any, line: int) -> _Column:
    fields = tuple(sorted(value)) if isinstance(value, dict) else ()
    return _Column(_kind(value), fields, line)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "a whole number" if value in _INT64 else "a number of more than 64 bits"
        case float():
            return "a fraction"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


def _difference(known: _Column, column: _Column) -> str:
    if column.kind == "a number of more than 64 bits":
        return "is a number of more than 64 bits"
    if known.kind != column.kind:
        return f"is {column.kind}, but {known.kind} in line {known.line}"
    if known.fields == column.fields:
        return ""
    odd = sorted(set(known.fields) ^ set(column.fields))
    return f"has other fields than in line {known.line} ({', '.join(odd)})"
