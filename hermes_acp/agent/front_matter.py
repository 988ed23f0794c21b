"""The head of a Markdown file: a few fields between two lines of dashes, read with patience.

Of YAML this understands what people write there: plain, quoted, folded and literal texts. Anything else is taken as
text or passed over; nothing raises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from hermes_acp.lazy_dataclasses import dataclass

_FENCE = re.compile(r"---[ \t]*")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
_FIELD = re.compile(r"([A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_BLOCK = re.compile(r"([|>])[+-]?\d?[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]#.*$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\n"}
_MOST_LINES = 400


@dataclass(frozen=True, slots=True)
class Document:
    """The fields of a file's head by name, in lower case, and the text below it."""

    fields: dict[str, str] = field(default_factory=dict)
    body: str = ""


def read_document(text: str) -> Document:
    """Take a file apart; one without a head, or with a head that has no end, is all body."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not _FENCE.fullmatch(lines[0]):
        return Document(body="\n".join(lines).strip())
    end = next((at for at, line in enumerate(lines[1:_MOST_LINES], 1) if _END.fullmatch(line)), 0)
    if not end:
        return Document(body="\n".join(lines).strip())
    return Document(_fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip())


def _fields(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(lines):
        match = _FIELD.match(lines[at])
        at += 1
        if match is None:
            continue
        begin = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t"):
            at += 1
        found.setdefault(match[1].lower(), _value(match[2] or "", lines[begin:at]))
    return found


def _value(first: str, more: Sequence[str]) -> str:
    if block := _BLOCK.match(first):
        return _block(block[1], more)
    text = " ".join(filter(None, [first.strip(), *(line.strip() for line in more)]))
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text[1:-1])
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return _COMMENT.sub("", text).strip()


def _block(style: str, lines: Sequence[str]) -> str:
    shared = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    rows = [line[shared:].rstrip() for line in lines]
    if style == "|":
        return "\n".join(rows).strip()
    paragraphs = re.split(r"\n{2,}", "\n".join(rows).strip())
    return "\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)
