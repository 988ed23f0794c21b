"""Which limit a model server tells when it refuses a prompt as too long."""

from __future__ import annotations

import re

_NUMBER = r"(\d[\d,_.]*\d|\d)\s*(k\b)?"
_PATTERNS = (
    rf"\d\s*>\s*{_NUMBER}",
    rf"tokens?\s*(?:>|exceeds?|is (?:more|greater) than)\s*(?:the )?(?:maximum |limit )?(?:of )?{_NUMBER}",
    rf"(?:context|prompt|input|model|sequence|token)[ _](?:length|window|size|limit)s?[^.\d]{{0,40}}?\b{_NUMBER}",
    rf"(?:maximum|max|limit|at most|up to)[^.\d]{{0,40}}?\b{_NUMBER}\s*(?:tokens?)?",
    rf"n_ctx[\"']?\s*[:=]\s*{_NUMBER}",
    rf"{_NUMBER}\s*(?:tokens?\s*)?(?:maximum|limit|context)",
    rf"context of {_NUMBER}",
)
_LEAST, _MOST = 256, 100_000_000


def told_limit(message: str) -> int:
    """The window in tokens that the text of a refusal names, 0 when it names none."""
    for pattern in _PATTERNS:
        for match in re.finditer(pattern, message, re.IGNORECASE):
            if _LEAST <= (found := _value(match[1], match[2])) <= _MOST:
                return found
    return 0


def _value(digits: str, thousands: str | None) -> int:
    number = int(re.sub(r"\D", "", digits))
    return number * 1_000 if thousands else number
