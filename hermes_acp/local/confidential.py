"""Our own keys, blotted out wherever a tool's result or a line of the log holds them."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from hermes_acp.cards import ToolResult
from hermes_acp.local.environment import is_secret

BLOT = "[key]"
"""What stands in the place of a key."""

SHORTEST = 8
"""A shorter key is a placeholder of a local server, and blotting it out would eat words."""

_LIKE_A_KEY = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w.~+=-]{16,}")
"""What of the environment counts: a secret variable may also hold a word, a path or an address."""

_KEYS: set[str] = set()


def keep(*keys: str) -> None:
    """Let these keys reach no model, no card and no log."""
    _KEYS.update(key for key in keys if len(key) >= SHORTEST)


def is_kept(text: str) -> bool:
    """Whether this is such a key."""
    return text in _KEYS


def blotted(text: str) -> str:
    """The text without keys: those kept, and those in variables that commands do not inherit."""
    for key in sorted(_KEYS | _in_environment(), key=len, reverse=True):
        text = text.replace(key, BLOT)
    return text


def discreet(result: ToolResult) -> ToolResult:
    """A tool's result without keys."""
    text, shown = blotted(result.text), result.shown and blotted(result.shown)
    return result if (text, shown) == (result.text, result.shown) else replace(result, text=text, shown=shown)


def _in_environment() -> set[str]:
    values = (os.fsdecode(value) for name, value in os.environb.items() if is_secret(name))
    return {value for value in values if _LIKE_A_KEY.fullmatch(value)}
