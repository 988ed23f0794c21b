"""Colours of a terminal, or none of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


@dataclass(frozen=True, slots=True)
class Palette:
    """Words for what a piece of text means; without colour every one of them gives the text back."""

    colour: bool

    def strong(self, text: str) -> str:
        return self._style("1", text)

    def quiet(self, text: str) -> str:
        return self._style("2", text)

    def thought(self, text: str) -> str:
        return self._style("2;3", text)

    def good(self, text: str) -> str:
        return self._style("32", text)

    def bad(self, text: str) -> str:
        return self._style("31", text)

    def asking(self, text: str) -> str:
        return self._style("33", text)

    def place(self, text: str) -> str:
        return self._style("36", text)

    def _style(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def printable(text: str) -> str:
    """The text without escape sequences and control characters: an agent's words must not steer a terminal."""
    return _CONTROL.sub("", text)
