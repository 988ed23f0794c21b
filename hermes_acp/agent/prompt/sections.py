"""The form of a prompt: sections under headings, and in them texts of others between tags that they cannot close."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_acp.text import visible

HEADINGS = ("Working with tools", "Memory", "Skills", "Guidance of the project", "Personality", "Environment")
"""The headings of all sections but the first, which has none, in their order."""

_TAGS = ("memory", "user", "skills", "guidance", "personality")
_CLOSING = re.compile(rf"<(?=\s*/\s*(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)
_ENCLOSED = re.compile(rf"^<({'|'.join(_TAGS)})[ >].*?^</\1>$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(rf"^# ({'|'.join(HEADINGS)})$", re.MULTILINE)


def section(heading: str, *paragraphs: str) -> str:
    """A section; "" when it would hold nothing but its heading."""
    text = "\n".join(filter(None, paragraphs))
    return f"# {heading}\n{text}" if text else ""


def enclosed(tag: str, text: str, path: str = "") -> str:
    """Text of others, marked as such; the closing tag in it is made harmless."""
    attribute = f' path="{_in_quotes(path)}"' if path else ""
    return f"<{tag}{attribute}>\n{_CLOSING.sub('&lt;', text)}\n</{tag}>"


def sizes(prompt: str) -> list[tuple[str, int]]:
    """The sections of a prompt and how many characters each has; together all of it."""
    masked = _ENCLOSED.sub(lambda match: "\0" * len(match[0]), prompt)
    starts: Sequence[tuple[str, int]] = [
        ("Identity", 0),
        *((match[1], match.start()) for match in _HEADING.finditer(masked)),
    ]
    ends = [start for _, start in starts[1:]] + [len(prompt)]
    return [(name, end - start) for (name, start), end in zip(starts, ends, strict=True) if end > start]


def _in_quotes(path: str) -> str:
    return visible(path).replace("\n", "\\n").replace('"', "&quot;")
