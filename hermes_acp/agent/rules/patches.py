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
        if (replacement and _occurs_once(_joined(block), before)) or not (head or tail):
            return {"old_text": _joined(block), "new_text": _joined(replacement)}
        head, tail = max(head - 1, 0), max(tail - 1, 0)


def _occurs_once(block: str, text: str) -> bool:
    """Whether the block is found at one place only; places that overlap are two."""
    return bool(block.strip()) and text.find(block) == text.rfind(block)


def _joined(lines: list[str]) -> str:
    return "".join(lines).removesuffix("\n")


def _common(one: list[str], other: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
