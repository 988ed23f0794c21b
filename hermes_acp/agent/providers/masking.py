"""Secrets kept out of what a person, a log or a model reads."""

from __future__ import annotations

import re

from hermes_acp.local.confidential import BLOT, SHORTEST

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
    if len(secret) >= SHORTEST:
        text = text.replace(secret, BLOT)
    return _SHAPES.sub(BLOT, text)
