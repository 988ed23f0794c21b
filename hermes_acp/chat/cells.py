"""Text in columns of a terminal, in which some characters take two and some none."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells

_ELLIPSIS = "…"


def cut_middle(text: str, columns: int) -> str:
    """A line in at most so many columns: of a longer one the beginning and, a little more, the end, which tells a file
    from its neighbours."""
    if cell_len(text) <= columns:
        return text
    room = max(columns - 1, 0)
    begun = _beginning(text, room * 2 // 5)
    return begun + _ELLIPSIS + _end(text[len(begun) :], room - cell_len(begun)) if columns > 0 else ""


def cut_end(text: str, columns: int) -> str:
    """A line in at most so many columns: of a longer one the beginning."""
    if cell_len(text) <= columns:
        return text
    return _beginning(text, columns - 1) + _ELLIPSIS if columns > 0 else ""


def _beginning(text: str, columns: int) -> str:
    return next(iter(chop_cells(text, columns)), "") if columns > 1 else ""


def _end(text: str, columns: int) -> str:
    taken = len(text)
    while taken and cell_len(text[taken - 1 :]) <= columns:
        taken -= 1
    return text[taken:]
