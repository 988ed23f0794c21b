"""Replacing text in text: in the place that is meant, and nothing around it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import codec
from hermes_acp.tools.matching import find_all, find_only, line_numbers

_ALIGNED_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` where `old` is: in its only place, or `everywhere`. Any line break in them matches any."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after the edits, the numbers of the lines where they begin, and how places that were not exactly
    the old text differ from it."""

    text: str
    lines: tuple[int, ...]
    loose: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """A place in the flat text that edit `number` puts `new` into."""

    begin: int
    end: int
    new: str
    number: int
    loose: str


def apply(text: str, edits: Sequence[Edit], newline: str) -> Edited:
    """The text after all edits, each of whose old texts is looked for in the text as it was.

    Lines that an edit keeps keep their line break; new ones get `newline`.

    Raises:
        ToolError: an old text is nowhere, or in more than one place, or two edits overlap.
    """
    flat = codec.flat(text)
    spans = sorted(_spans(flat, edits), key=lambda span: span.begin)
    _check_apart(flat, spans)
    edges = _origins(text, flat, [edge for span in spans for edge in (span.begin, span.end)])
    parts, done = [], 0
    for span, begin, end in zip(spans, edges[::2], edges[1::2], strict=True):
        parts += [text[done:begin], respelled(span.new, text[begin:end], newline)]
        done = end
    lines = line_numbers(flat, [span.begin for span in spans])
    loose = (f"line {line}: {span.loose}" for line, span in zip(lines, spans, strict=True) if span.loose)
    return Edited("".join([*parts, text[done:]]), tuple(lines), tuple(loose))


def respelled(new: str, old: str, newline: str) -> str:
    """`new`, in the place of `old`: kept lines with the breaks they had, all others with `newline`."""
    lines = codec.lines(new)
    if codec.styles(old) <= {newline}:
        return newline.join(lines)
    had, breaks = codec.breaks(old), [newline] * (len(lines) - 1)
    for before, after in _pairs(codec.lines(old)[:-1], lines[:-1]):
        breaks[after] = had[before]
    return "".join(part for pair in zip(lines, [*breaks, ""], strict=True) for part in pair)


def _spans(flat: str, edits: Sequence[Edit]) -> list[_Span]:
    spans: list[_Span] = []
    for number, edit in enumerate(edits, 1):
        try:
            spans += _places(flat, edit, number)
        except ToolError as error:
            raise ToolError(f"Edit {number} of {len(edits)}: {error}" if len(edits) > 1 else str(error)) from None
    return spans


def _places(flat: str, edit: Edit, number: int) -> list[_Span]:
    old, new = codec.flat(edit.old), edit.new
    matches = find_all(flat, old) if edit.everywhere else [find_only(flat, old)]
    spans = []
    for match in matches:
        put = match.shift.apply(codec.flat(new)) if match.loose else new
        if put is None:
            raise ToolError(
                f"old_text occurs only with less indentation (line {line_numbers(flat, [match.begin])[0]}), and "
                "new_text cannot be indented so. Copy old_text exactly. Nothing was changed."
            )
        spans.append(_Span(match.begin, match.end, put, number, match.loose))
    return spans


def _check_apart(flat: str, spans: Sequence[_Span]) -> None:
    for before, after in pairwise(spans):
        if after.begin < before.end:
            numbers = sorted((before.number, after.number))
            raise ToolError(
                f"Edits {numbers[0]} and {numbers[1]} overlap at line {line_numbers(flat, [after.begin])[0]}; put them "
                "into one. Each old_text is looked for in the file as it is now. Nothing was changed."
            )


def _origins(text: str, flat: str, positions: Sequence[int]) -> list[int]:
    """Where the rising positions of the flat text are in the text itself, whose CRLF take two characters."""
    if len(text) == len(flat):
        return list(positions)
    if len(text) - len(flat) == flat.count("\n"):
        return [at + line - 1 for at, line in zip(positions, line_numbers(flat, positions), strict=True)]
    wide: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        wide.append(at - len(wide))
        at = text.find("\r\n", at + 2)
    return [at + bisect_left(wide, at) for at in positions]


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
