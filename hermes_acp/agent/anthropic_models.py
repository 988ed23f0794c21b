"""What Anthropic's models allow, as far as their names tell."""

from __future__ import annotations

import re

_NAME = re.compile(r"claude", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\d.])(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")

DEFAULT_TOKENS = 8192
"""The longest answer asked of a model that is not known: servers of others refuse more than their models give."""

_TOKENS: tuple[tuple[tuple[int, int], int], ...] = (
    ((3, 7), 32_000),
    ((3, 5), 8192),
    ((0, 0), 4096),
)
"""The longest answer asked of a Claude model from a version on. Newer ones give more, but what an answer may take
is reserved in the window."""

FIRST_ADAPTIVE = (4, 6)
"""From this version on a model decides itself how much to think; those before are given a number of tokens."""


def version_of(model: str) -> tuple[int, int] | None:
    """The version of a Claude model, such as (4, 5); (99, 0) when its name tells none; None for other models."""
    named = _NAME.search(model)
    if named is None:
        return None
    found = _VERSION.search(model, named.end())
    if found is None:
        return (99, 0)
    return int(found[1]), int(found[2] or 0)


def longest_answer(model: str) -> int:
    """How many tokens an answer of this model may have at most, thoughts included."""
    version = version_of(model)
    if version is None:
        return DEFAULT_TOKENS
    return next(tokens for since, tokens in _TOKENS if version >= since)


def is_adaptive(model: str) -> bool:
    """Whether a model decides itself how much to think."""
    version = version_of(model)
    return version is not None and version >= FIRST_ADAPTIVE
