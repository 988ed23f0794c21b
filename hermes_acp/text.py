"""Plain functions on text that every layer needs: cleaning, shortening, hiding."""

from __future__ import annotations

import re
from collections.abc import Iterable

SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_UNSEEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_INVISIBLE = re.compile(_UNSEEN + r"|\\(?=u\{)")

_FENCE = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) +(?=[^\Wa-z])")
_NOTE_LENGTH = 50


def clean(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def plain(text: str) -> str:
    """The text without terminal escape sequences and control characters (tab and newline stay)."""
    return _ESCAPES.sub("", text)


def visible(text: str) -> str:
    """The text with control, bidirectional, zero-width and blank characters written as escapes.

    For what a person is asked to approve: the question must show the characters that take effect. Where the
    text itself holds what looks like such an escape, its backslash is escaped.
    """
    return _INVISIBLE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text)


def without_unseen(text: str) -> str:
    """The text without the characters that `visible` writes as escapes because they cannot be seen."""
    return re.sub(_UNSEEN, "", text)


def shorten(text: str, limit: int) -> str:
    """The text cut to `limit` characters, the cut marked by an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def shorten_words(text: str, limit: int) -> str:
    """As `shorten`, but no word is cut in two, where there are any."""
    if len(text) <= limit:
        return text
    begun = text[: max(limit - 1, 0)]
    whole, blank, _ = begun.rpartition(" ") if not text[len(begun)].isspace() else (begun, " ", "")
    return (whole if blank and len(whole) > limit // 2 else begun).rstrip(" ,;:") + "…"


def first_sentence(text: str, limit: int) -> str:
    """The first sentence of a text in one line, at most `limit` characters of it in whole words."""
    paragraph = text.strip().partition("\n\n")[0]
    line = " ".join(paragraph.split())
    return shorten_words(_SENTENCE.split(line, maxsplit=1)[0], limit)


def head_and_tail(text: str, limit: int) -> str:
    """The text's beginning and end with a line between that says what was left out; at most `limit` characters
    in all, so that cutting twice is cutting once."""
    if len(text) <= limit:
        return text
    half = max(limit - _NOTE_LENGTH, 0) // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"


def local_time(moment: str) -> str:
    """A moment that was noted in ISO 8601 as minutes in the time of this machine; anything else as it is."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return visible(moment)


def counted(number: int, one: str, several: str = "") -> str:
    """A number with its noun, such as "1 entry" or "3 entries"; `several` is the plural where an s does not make it."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The known word that is most like this one, "" when none is so like it (1.0: the same)."""
    from difflib import get_close_matches  # Only mistakes need it, and a start has none.

    return next(iter(get_close_matches(word, list(known), n=1, cutoff=likeness)), "")


def or_nearest(word: str, known: Iterable[str]) -> str:
    """What is added to the refusal of a word: the question whether a known one was meant, "" when none is like it."""
    near = nearest(word, known)
    return f" (did you mean {near}?)" if near else ""


def fenced(text: str) -> str:
    """Markdown that shows the text as it is, in a fence that nothing in it can close."""
    fence = "`" * max(3, 1 + max((len(run) for run in _FENCE.findall(text)), default=0))
    return f"{fence}\n{text.rstrip()}\n{fence}"


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that are easier to read as one."""
    return frozenset(text.split())
