"""The edit of a whole text, as the smallest block of lines that the tool `patch` can find."""

from __future__ import annotations

from itertools import takewhile


def smallest_patch(before: str, after: str) -> dict[str, str]:
    """The arguments `old_text` and `new_text` that turn one text into the other.

    The block holds whole lines, the end of the last one left out (a file may end without), is not blank, and
    occurs once in `before`.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    while True:
        block, replacement = old[head : len(old) - tail], new[head : len(new) - tail]
        is_found = replacement and _joined(block).strip() and before.count(_joined(block)) == 1
        if is_found or not (head or tail):
            return {"old_text": _joined(block), "new_text": _joined(replacement)}
        head, tail = max(head - 1, 0), max(tail - 1, 0)


def _joined(lines: list[str]) -> str:
    return "".join(lines).removesuffix("\n")


def _common(one: list[str], other: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
