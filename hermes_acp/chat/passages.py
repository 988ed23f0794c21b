"""Cuts streaming Markdown into passages that are whole, so that each can be written once and for good."""

from __future__ import annotations

import re
from dataclasses import field

from hermes_acp.lazy_dataclasses import dataclass

MOST_LINES = 30
"""A code block is let go in pieces of so many lines: what streams has to fit on a screen."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n`]*)$")


@dataclass(slots=True)
class Passages:
    """The text of one message as it comes in. `tail` is what is not whole yet."""

    _lines: list[str] = field(default_factory=list)
    _line: str = ""
    _fence: str = ""
    _opening: str = ""
    _ended: bool = False

    @property
    def tail(self) -> str:
        """What was begun and may still change; an open code block is closed."""
        text = "\n".join([*self._lines, *([self._line] if self._line else [])])
        return f"{text}\n{self._fence}" if self._fence and text else text

    def add(self, text: str) -> list[str]:
        """Take in a piece of text; the passages that have become whole by it."""
        whole = list[str]()
        *lines, rest = (self._line + text).split("\n")
        for line in lines:
            whole += self._take(line)
        self._line = rest
        if self._ended and rest and not rest[0].isspace():
            whole += self._cut()
        return whole

    def end(self) -> list[str]:
        """The message is over: what is left of it."""
        line, self._line = self._line, ""
        whole = (self._take(line) if line else []) + self._cut()
        self._fence = self._opening = ""
        return whole

    def _take(self, line: str) -> list[str]:
        whole = self._cut() if self._ended and line.strip() and not line[0].isspace() else []
        if self._fence:
            return whole + self._in_code(line)
        if opened := _FENCE.match(line):
            self._fence, self._opening = opened[1], line
        if line.strip() or self._lines:
            self._lines.append(line)
        self._ended = self._ended if self._fence else not line.strip() and bool(self._lines)
        return whole

    def _in_code(self, line: str) -> list[str]:
        self._lines.append(line)
        if _closes(line, self._fence):
            self._fence = ""
            return []
        if len(self._lines) <= MOST_LINES:
            return []
        whole = ["\n".join([*self._lines, self._fence])]
        self._lines = [self._opening]
        return whole

    def _cut(self) -> list[str]:
        text = "\n".join(self._lines).strip("\n")
        if self._fence and text:
            text = f"{text}\n{self._fence}"
        self._lines, self._ended = [], False
        return [text] if text.strip() else []


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}
