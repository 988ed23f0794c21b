"""How deep a JSON value may be nested."""

from __future__ import annotations

from typing import Any

DEEPEST = 100
"""So many objects and lists within each other are refused where they come in: whoever reads values recurses."""


def is_deep(value: Any) -> bool:
    """Whether a JSON value is nested `DEEPEST` deep or deeper."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    """The values inside, and one more for the level itself when there are none."""
    match value:
        case dict():
            return list(value.values()) or [None]
        case list() | tuple():
            return list(value) or [None]
        case _:
            return []
