"""Replacing text in text: exactly, in one place unless told otherwise, and nothing around it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches

from hermes_acp.errors import ToolError
from hermes_acp.local import codec
from hermes_acp.text import clean, shorten

_ALIGNED_LINES = 2_000
_COMPARED_LINES = 5_000
_SAME_LINES = 50


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` where `old` is: in its only place, or `everywhere`. Any line break in them matches any."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after the edits, and the numbers of the lines where they begin."""

    text: str
    lines: tuple[int, ...]


def apply(text: str, edits: Sequence[Edit], newline: str) -> Edited:
    """The text after the edits, each made in what the one before it left.

    Lines that an edit keeps keep their line break; new ones get `newline`.

    Raises:
        ToolError: an old text is nowhere, or in more than one place.
    """
    lines: list[int] = []
    for edit in edits:
        edited = _apply(text, edit, newline)
        text = edited.text
        lines += edited.lines
    return Edited(text, tuple(lines))


def respelled(new: str, old: str, newline: str) -> str:
    """`new`, in the place of `old`: kept lines with the breaks they had, all others with `newline`."""
    lines = codec.lines(new)
    if codec.styles(old) <= {newline}:
        return newline.join(lines)
    had, breaks = codec.breaks(old), [newline] * (len(lines) - 1)
    for before, after in _pairs(codec.lines(old)[:-1], lines[:-1]):
        breaks[after] = had[before]
    return "".join(part for pair in zip(lines, [*breaks, ""], strict=True) for part in pair)


def _apply(text: str, edit: Edit, newline: str) -> Edited:
    flat, old = codec.flat(text), codec.flat(edit.old)
    starts = _starts(flat, old) if edit.everywhere else [_only(flat, old)]
    edges = _origins(text, flat, [edge for start in starts for edge in (start, start + len(old))])
    parts, done = [], 0
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        parts += [text[done:begin], respelled(edit.new, text[begin:end], newline)]
        done = end
    return Edited("".join([*parts, text[done:]]), tuple(_line_numbers(flat, starts)))


def _origins(text: str, flat: str, positions: Sequence[int]) -> list[int]:
    """Where the rising positions of the flat text are in the text itself, whose CRLF take two characters."""
    if len(text) == len(flat):
        return list(positions)
    if len(text) - len(flat) == flat.count("\n"):
        return [at + line - 1 for at, line in zip(positions, _line_numbers(flat, positions), strict=True)]
    wide: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        wide.append(at - len(wide))
        at = text.find("\r\n", at + 2)
    return [at + bisect_left(wide, at) for at in positions]


def _starts(text: str, old: str) -> list[int]:
    starts, at = [], text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + len(old))
    if not starts:
        raise ToolError(_nowhere(text, old))
    return starts


def _only(text: str, old: str) -> int:
    at = text.find(old)
    if at < 0:
        raise ToolError(_nowhere(text, old))
    if text.find(old, at + 1) >= 0:
        raise ToolError(_several(text, old))
    return at


def _several(text: str, old: str) -> str:
    starts, at = [], text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + 1)
    numbers = _line_numbers(text, starts[:10])
    places = ", ".join(map(str, numbers)) + (", …" if len(starts) > 10 else "")
    return (
        f"old_text occurs {len(starts)} times (lines {places}). Add lines around it until it is unique, "
        "or set replace_all to change every place. Nothing was changed."
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
    votes = Counter(
        at - offset
        for offset, line in enumerate(want)
        if line.strip()
        for at in places.get(line.strip(), ())[:_SAME_LINES]
    )
    if votes:
        return max(votes.most_common(1)[0][0], 0)
    first = next(offset for offset, line in enumerate(want) if line.strip())
    close = get_close_matches(want[first].strip()[:200], [line[:200] for line in list(places)[:_COMPARED_LINES]], n=1)
    found = next((line for line in places if line[:200] == close[0]), None) if close else None
    return None if found is None else max(places[found][0] - first, 0)


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


def _line_numbers(text: str, starts: Sequence[int]) -> list[int]:
    numbers, number, before = [], 1, 0
    for start in starts:
        number += text.count("\n", before, start)
        before = start
        numbers.append(number)
    return numbers


def _pairs(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Which lines of `old` became, or stayed, which of `new`."""
    head = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = min(len(old), len(new)) - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    pairs = [(at, at) for at in range(head)]
    pairs += [(len(old) - 1 - at, len(new) - 1 - at) for at in range(tail)]
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    return pairs + [(head + before, head + after) for before, after in _aligned(*middle)]


def _aligned(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    if max(len(old), len(new)) > _ALIGNED_LINES:
        return []
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    kept = [block for block in blocks if block[0] in ("equal", "replace")]
    return [pair for _, i1, i2, j1, j2 in kept for pair in zip(range(i1, i2), range(j1, j2), strict=False)]
