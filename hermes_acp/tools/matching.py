"""Where an old text stands in a file: exactly, else in the one place that differs only in what does not show."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import accumulate

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean, shorten

_COMPARED_LINES = 5_000
_SAME_LINES = 50
_COUNTED = 500
_BLANKS = " \t"
_TYPED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
    }
)
"""What a keyboard has in place of typographic characters, one for one: positions stay as they are."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How the lines of the file are indented differently: `added` stands before each, or `removed` is missing."""

    added: str = ""
    removed: str = ""

    def apply(self, text: str) -> str | None:
        """The text indented like the file; None when a line has not the indentation that is to go."""
        lines = text.split("\n")
        if not all(line.startswith(self.removed) for line in lines if line.strip()):
            return None
        return "\n".join(self.added + line.removeprefix(self.removed) if line.strip() else line for line in lines)


@dataclass(frozen=True, slots=True)
class Match:
    """A place in the text, in characters; `shift` and `loose` are set for one that is not exactly the old text."""

    begin: int
    end: int
    loose: str = ""
    shift: Shift = Shift()


def find_only(text: str, old: str) -> Match:
    """The only place of the old text; both have line feeds as their only line breaks.

    A place that differs from it in white space at line ends, typographic characters or one indentation of all
    lines counts when the old text itself is nowhere.

    Raises:
        ToolError: there is no such place, or more than one.
    """
    at = text.find(old)
    if at < 0:
        return _find_loosely(text, old)
    if text.find(old, at + 1) >= 0:
        raise ToolError(_several(text, _overlapping(text, old)))
    return Match(at, at + len(old))


def find_all(text: str, old: str) -> list[Match]:
    """Every place of the old text from left to right, none overlapping the one before.

    Raises:
        ToolError: there is none.
    """
    matches, at = [], text.find(old)
    while at >= 0:
        matches.append(Match(at, at + len(old)))
        at = text.find(old, at + len(old))
    return matches or [_find_loosely(text, old)]


def line_numbers(text: str, positions: Sequence[int]) -> list[int]:
    """The lines, from 1, of rising positions."""
    numbers, number, before = [], 1, 0
    for position in positions:
        number += text.count("\n", before, position)
        before = position
        numbers.append(number)
    return numbers


def _find_loosely(text: str, old: str) -> Match:
    have = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in have), initial=0))
    shown = [line.translate(_TYPED).rstrip(_BLANKS) for line in have]
    for matches in (_same_but_for_ends(shown, old, starts), _indented_otherwise(shown, old, starts)):
        if len(matches) > 1:
            raise ToolError(_several(text, [match.begin for match in matches], "nearly "))
        if matches:
            return matches[0]
    raise ToolError(_nowhere(text, old))


def _same_but_for_ends(shown: list[str], old: str, starts: list[int]) -> list[Match]:
    """Where it stands when typographic characters and white space at line ends are left out of account."""
    text = "\n".join(shown)
    wanted = "\n".join(line.translate(_TYPED).rstrip(_BLANKS) for line in old.split("\n"))
    to_the_end = old[-1] in _BLANKS
    at_line = list(accumulate((len(line) + 1 for line in shown), initial=0))

    def there(position: int) -> int:
        line = bisect_right(at_line, position) - 1
        return starts[line] + position - at_line[line]

    return [
        Match(there(at), there(at + len(wanted)), "white space at line ends or typographic characters differ")
        for at in _overlapping(text, wanted)
        if not to_the_end or text[at + len(wanted) :][:1] in ("", "\n")
    ]


def _indented_otherwise(shown: list[str], old: str, starts: list[int]) -> list[Match]:
    """Where its lines stand, whole ones, all of them indented by the same more or less."""
    want = [line.translate(_TYPED).rstrip(_BLANKS) for line in old.split("\n")]
    through = old.endswith("\n")
    want = want[:-1] if through else want
    content = want[0].lstrip(_BLANKS)
    firsts = [at for at in range(len(shown) - len(want) + (not through)) if shown[at].lstrip(_BLANKS) == content]
    matches = []
    for first in firsts[: _COMPARED_LINES // len(want) + _SAME_LINES]:
        last = first + len(want)
        if shift := _shift(want, shown[first:last]):
            end = starts[last] if through else starts[last - 1] + len(shown[last - 1])
            matches.append(Match(starts[first], end, "its lines are indented otherwise", shift))
    return matches


def _shift(want: list[str], have: list[str]) -> Shift | None:
    """The one difference in indentation between lines that are otherwise the same."""
    shifts = {_line_shift(*pair) for pair in zip(want, have, strict=True) if any(pair)}
    return shifts.pop() if len(shifts) == 1 else None


def _line_shift(wanted: str, has: str) -> Shift | None:
    if wanted.lstrip(_BLANKS) != has.lstrip(_BLANKS):
        return None
    if has.endswith(wanted):
        return Shift(added=has.removesuffix(wanted))
    return Shift(removed=wanted.removesuffix(has)) if wanted.endswith(has) else None


def _overlapping(text: str, old: str) -> list[int]:
    """Where it stands, each place that overlaps another too; the first ones, when there are very many."""
    starts: list[int] = []
    at = text.find(old)
    while at >= 0 and len(starts) < _COUNTED:
        starts.append(at)
        at = text.find(old, at + 1)
    return starts


def _several(text: str, starts: Sequence[int], nearly: str = "") -> str:
    numbers = line_numbers(text, starts[:10])
    places = ", ".join(map(str, numbers)) + (", …" if len(starts) > 10 else "")
    count = f"{len(starts)} or more" if len(starts) == _COUNTED else str(len(starts))
    other = "copy it exactly" if nearly else "set replace_all to change every place"
    return (
        f"old_text {nearly}occurs {count} times (lines {places}). Add lines around it until it is unique, "
        f"or {other}. Nothing was changed."
    )


def _nowhere(text: str, old: str) -> str:
    have, want = text.removesuffix("\n").split("\n"), old.split("\n")
    start = _best_start(have, want)
    if start is None:
        return "old_text does not occur in the file, nor anything like it. Read the file again. Nothing was changed."
    return f"old_text does not occur in the file. {_difference(have, want, start)} Nothing was changed."


def _best_start(have: list[str], want: list[str]) -> int | None:
    """Where most lines of `want` stand in `have`, white space aside; else where its first line nearly does."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(have):
        places.setdefault(line.strip(), []).append(number)
    votes = Counter(_votes(places, want))
    if votes:
        return max(votes.most_common(1)[0][0], 0)
    first = next(offset for offset, line in enumerate(want) if line.strip())
    close = get_close_matches(want[first].strip()[:200], [line[:200] for line in list(places)[:_COMPARED_LINES]], n=1)
    found = next((line for line in places if line[:200] == close[0]), None) if close else None
    return None if found is None else max(places[found][0] - first, 0)


def _votes(places: dict[str, list[int]], want: list[str]) -> Iterator[int]:
    for offset, line in enumerate(want):
        if line.strip():
            yield from (at - offset for at in places.get(line.strip(), ())[:_SAME_LINES])


def _difference(have: list[str], want: list[str], start: int) -> str:
    for offset, wanted in enumerate(want):
        number = start + offset + 1
        if number > len(have):
            return f"The nearest place begins at line {start + 1}, but the file ends with line {len(have)}."
        if not _fits(have[number - 1], wanted, first=offset == 0, last=offset == len(want) - 1):
            return _one_difference(number, have[number - 1], wanted)
    return f"The nearest place begins at line {start + 1}."


def _fits(has: str, wanted: str, *, first: bool, last: bool) -> bool:
    """Whether a line of the file can hold this line of the old text, which may begin or end inside of it."""
    if first == last:
        return has == wanted
    return has.endswith(wanted) if first else has.startswith(wanted)


def _one_difference(number: int, has: str, wanted: str) -> str:
    spaces = " Only white space differs." if has.split() == wanted.split() else ""
    both = f"the file has {_quoted(has)}, old_text has {_quoted(wanted)}"
    return f"The nearest place differs in line {number}: {both}.{spaces}"


def _quoted(line: str) -> str:
    return json.dumps(shorten(clean(line), 200), ensure_ascii=False)
