"""Texts that arrive interleaved, each in pieces, and are shown one after the other."""

from __future__ import annotations

from collections import Counter

from hermes_acp.agent.providers.pieces import Pieces

BETWEEN = "\n\n"
"""Stands between two passages."""

Place = tuple[int, int]
"""Where a passage stands in the reply: the item's number, and the part's within the item."""


class Passages:
    """All texts of one kind in a reply.

    A passage is shown as it comes until it has ended, while those after it wait. The parts of one item follow
    each other: a later part ends the one before it.
    """

    def __init__(self) -> None:
        self._come: dict[Place, list[str]] = {}
        self._waiting: dict[Place, list[str]] = {}
        self._ended: set[Place] = set()
        self._current: Place | None = None
        self._pieces = Pieces()
        self._lengths: Counter[int] = Counter()
        self._shown: list[str] = []
        self._first = False

    def add(self, place: Place, piece: str) -> str:
        """What can be shown now that this piece of a passage is here; it may be empty."""
        if place not in self._come:
            self._begin(place)
        self._come[place].append(piece)
        if place not in self._waiting:
            return self._show(place[0], self._pieces.add(piece))
        self._waiting[place].append(piece)
        return self._advance()

    def complete(self, place: Place, text: str) -> str:
        """What can be shown now that a passage is known whole: what its pieces left out, and what waited for it.

        A passage that began otherwise than this text stays as it was shown.
        """
        come = "".join(self._come.get(place, ()))
        missing = text[len(come) :] if text.startswith(come) else ""
        shown = self.add(place, missing) if missing else ""
        self._ended.add(place)
        return shown + self._advance()

    def close(self) -> str:
        """What is left to show when no more will come."""
        self._ended.update(self._come)
        return self._advance()

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self._shown)

    def length(self, item: int) -> int:
        """The characters shown of an item, what stands between its parts included."""
        return self._lengths[item]

    def _begin(self, place: Place) -> None:
        self._ended.update(other for other in self._come if other[0] == place[0] and other < place)
        self._come[place] = []
        self._waiting[place] = []

    def _advance(self) -> str:
        """Show what waited, up to the first passage that has not ended."""
        shown = ""
        while self._current is None or self._current in self._ended:
            if self._current is not None:
                shown += self._show(self._current[0], self._pieces.close())
            if not self._waiting:
                break
            self._current = min(self._waiting)
            self._first = bool(self._shown)
            shown += self._show(self._current[0], self._pieces.add("".join(self._waiting.pop(self._current))))
        return shown

    def _show(self, item: int, text: str) -> str:
        """The text, with what stands before it when it is the first of its passage and not of all."""
        if not text:
            return ""
        between = BETWEEN if self._first else ""
        self._first = False
        self._lengths[item] += len(text) + (len(between) if self._lengths[item] else 0)
        self._shown.append(between + text)
        return between + text
