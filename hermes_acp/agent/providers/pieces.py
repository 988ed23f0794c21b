"""Text that arrives in pieces."""

from __future__ import annotations

from hermes_acp.text import SURROGATE, clean


def mend(text: str) -> str:
    """The text with the halves of surrogate pairs joined, and halves without a mate replaced by U+FFFD.

    Servers that count in UTF-16 cut characters in two and send the halves in two pieces.
    """
    if text.isascii() or not SURROGATE.search(text):
        return text
    return clean(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"))


class Pieces:
    """The pieces of one text; a half character at the end of a piece waits for its other half."""

    def __init__(self) -> None:
        self._all: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        """What can be shown now that this piece is here; it may be empty."""
        if self._half or not piece.isascii():
            piece = self._whole(self._half + piece)
        if piece:
            self._all.append(piece)
        return piece

    def close(self) -> str:
        """What is left to show when no more will come."""
        rest, self._half = clean(self._half), ""
        if rest:
            self._all.append(rest)
        return rest

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self._all)

    def _whole(self, piece: str) -> str:
        self._half = piece[-1] if piece and "\ud800" <= piece[-1] <= "\udbff" else ""
        return mend(piece[: len(piece) - len(self._half)])
