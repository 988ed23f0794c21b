"""Texts of others that go into a prompt: what hides in them is taken out, what tries to steer the agent is marked.

A simple scan for what is known to be tried, not a proof: the gate, not the prompt, decides what takes effect.
"""

from __future__ import annotations

import re
from functools import cache

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean

_IGNORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060-\u2064\ufeff]")
_HIDDEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u206f\U000e0000-\U000e0fff]|[\u200c\u200d\ufe00-\ufe0f]{3,}")

_GAP = r"[\s>*_\"'`,-]{1,8}"
_WORDS = rf"(?:\w{{1,30}}{_GAP}){{0,4}}"
_SIGNS = (
    (
        "tells the agent to drop its instructions",
        rf"\b(?:ignore|disregard|forget|override|bypass){_GAP}{_WORDS}"
        rf"(?:(?:previous|prior|earlier|above|preceding|foregoing|system){_GAP}{_WORDS}|(?:your|all|any){_GAP})"
        r"(?:instructions?|prompts?|guidelines|directions|directives)\b",
    ),
    (
        "tells the agent to hide something",
        rf"\b(?:do{_GAP}not|don't|never){_GAP}(?:tell|inform|alert){_GAP}{_WORDS}(?:user|human|person|owner)\b",
    ),
    (
        "claims that nothing needs permission",
        rf"\b(?:commands?|edits?|actions?|tools?|calls?|requests?){_GAP}(?:\w{{1,30}}{_GAP}){{0,6}}"
        rf"(?:pre-?approved|auto-?approved|already{_GAP}approved)\b",
    ),
    (
        "gives the agent another role",
        rf"\byou{_GAP}are{_GAP}(?:now{_GAP})?(?:no{_GAP}longer\b|unrestricted\b|jailbroken\b|DAN\b)"
        rf"|\b(?:developer|god|DAN|jailbreak){_GAP}mode{_GAP}(?:enabled|activated|on)\b",
    ),
    ("imitates the format of a conversation", r"<\|[a-z_]{2,20}\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|</?system_?prompt>"),
    (
        "wants secrets to be sent away",
        r"\b(?:curl|wget|nc|upload|send|post)\b[^\n]{0,200}"
        r"(?:\.ssh/|\.aws/|\.gnupg/|\.netrc\b|\.git-credentials\b|(?<![\w.])\.env\b(?!\.))",
    ),
)


@dataclass(frozen=True, slots=True)
class Screened:
    """A text fit for a prompt, and what was found in it, in words that follow its name ("hides characters")."""

    text: str
    found: tuple[str, ...] = ()


def screen(text: str) -> Screened:
    """Take out characters that cannot be seen, and the lines that try to steer the agent; each leaves a mark."""
    shown = _IGNORABLE.sub("", clean(text).replace("\r\n", "\n").replace("\r", "\n"))
    found = ["hides characters"] if _HIDDEN.search(shown) else []
    shown = _HIDDEN.sub("", shown)
    for reason, pattern in _steering():
        shown, count = _without(pattern, shown, reason)
        found += [reason] * bool(count)
    return Screened(shown, tuple(found))


@cache
def _steering() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What to look for; compiled with the first text, which most sessions begin without."""
    return tuple((reason, re.compile(pattern, re.IGNORECASE)) for reason, pattern in _SIGNS)


def _without(pattern: re.Pattern[str], text: str, reason: str) -> tuple[str, int]:
    """The text with a mark in place of every run of lines that the pattern touches, and how many there were."""
    parts: list[str] = []
    at = 0
    for match in pattern.finditer(text):
        begin = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        if end <= at:
            continue
        parts += [text[at:begin], f"[Left out: this {reason}.]"] if begin >= at else []
        at = end
    return "".join([*parts, text[at:]]), len(parts) // 2
