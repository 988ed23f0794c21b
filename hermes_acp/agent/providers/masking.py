"""Secrets kept out of what a person, a log or a model reads."""

from __future__ import annotations

import re

SHORTEST_SECRET = 8
"""A shorter key is a placeholder of a local server, and replacing it would eat words."""

_MASK = "[key]"
_SHAPES = re.compile(
    r"""
    \b(?:sk|pk|rk|ak|fw|gsk|csk|xai|key|hf|ghp|gho|ghs|ghu|pplx|nvapi|tgp|github_pat)[-_][\w.*-]{6,}
    | \bAIza[\w*-]{10,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?
    | (?<=\bBearer\ )[\w.~+/*=-]{6,}
    | (?<=://)[^\s/:@]*:[^\s/@]+(?=@)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def masked(text: str, secret: str = "") -> str:
    """The text without the secret, without anything of a key's shape, and without passwords in addresses."""
    if len(secret) >= SHORTEST_SECRET:
        text = text.replace(secret, _MASK)
    return _SHAPES.sub(_MASK, text)
