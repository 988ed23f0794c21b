"""Breaks text between words where a terminal would break it anywhere, also while it streams."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata

_PIECES = re.compile(r"\n|[^\S\n]+|\S+")


def columns() -> int:
    """How wide the terminal is now; 0 where none shows what is written."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def wrapped(text: str, width: int, margin: str = "") -> list[str]:
    """A line as lines of at most so many columns, each after the margin; one alone where the width is not known."""
    flow = Flow(max(width - len(margin), 1) if width else 0)
    return [f"{margin}{line}" for line in (flow.add(text) + flow.end()).split("\n")]


class Flow:
    """Text that comes in pieces, in lines of at most `width` columns (0: as it comes). A word is given out once the
    next one has begun; one that fits in no line is left to the terminal."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._blanks = ""
        self._word = ""

    def add(self, text: str) -> str:
        """What can be written of it by now."""
        if not self._width:
            return text
        return "".join(self._take(piece) for piece in _PIECES.findall(text))

    def end(self) -> str:
        """What is left of it."""
        rest = self._give_word()
        self._column, self._blanks = 0, ""
        return rest

    def _take(self, piece: str) -> str:
        if piece == "\n":
            ended = self.end()
            return f"{ended}\n"
        if piece.isspace():
            given = self._give_word()
            self._blanks += piece
            return given
        self._word += piece
        return ""

    def _give_word(self) -> str:
        if not self._word:
            return ""
        word, blanks = self._word, self._blanks
        self._word = self._blanks = ""
        if self._column and self._column + len(blanks) + width_of(word) > self._width:
            self._column = width_of(word)
            return f"\n{word}"
        self._column += len(blanks) + width_of(word)
        return blanks + word


def width_of(text: str) -> int:
    """The columns that a text takes."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
