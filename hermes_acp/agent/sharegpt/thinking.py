"""Reasoning in a reply, native or in tags of many names, as the one `<think>` block of a gpt turn."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_acp.lazy_dataclasses import dataclass

_SCRATCHPAD = "reasoning_scratchpad"
_SCRATCHPAD_TAG = re.compile(rf"<(/?){_SCRATCHPAD}>", re.IGNORECASE)
_PLAIN = (_SCRATCHPAD, "think")
"""Names whose blocks keep every character between the tags."""

_TOKEN = re.compile(
    rf"^[ \t]*(?P<fence>```|~~~)|(?P<line>^[ \t]*)?<(?P<name>{_SCRATCHPAD}|think|thinking|thought|reasoning)>",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING = {
    name: re.compile(f"</{name}>", re.IGNORECASE) for name in (_SCRATCHPAD, "think", "thinking", "thought", "reasoning")
}
_EMPTY = "<think>\n</think>\n"


@dataclass(frozen=True, slots=True)
class Block:
    """Reasoning that stands in the text from `start` to `end`, tags included; `body` is between the tags."""

    start: int
    end: int
    name: str
    body: str


def convert_scratchpad_to_think(text: str) -> str:
    """The text with the `<REASONING_SCRATCHPAD>` tags, in any case, replaced by `<think>` tags."""
    return _SCRATCHPAD_TAG.sub(r"<\1think>", text)


def split_thinking(text: str, reasoning: str) -> tuple[str, str]:
    """The `<think>` block of a gpt turn and the text after it, together with exactly one block.

    A single block in the text keeps its place when there is no other reasoning (the first value is then
    empty); else all of it is put together in front, each piece once (spec: trajectory, gpt).
    """
    blocks = find_blocks(text)
    if len(blocks) == 1 and not reasoning.strip() and blocks[0].body.strip():
        return "", text[: blocks[0].start] + _in_place(blocks[0]) + text[blocks[0].end :]
    return _merged([reasoning, *(block.body for block in blocks)]), _without(text, blocks)


def find_blocks(text: str) -> list[Block]:
    """The blocks of a text that hold reasoning; a tag that is only spoken of opens none.

    A tag opens a block at the start of a line or right after another block, outside of fenced code, when it
    is closed later; a scratchpad's also elsewhere, unless it is quoted. What begins the text may lack its
    closing tag: the answer was cut.
    """
    return _Scan(text).blocks()


def has_thoughts(text: str) -> bool:
    """Whether a gpt turn's `<think>` block says anything."""
    _, opened, rest = text.partition("<think>")
    return bool(opened and rest.partition("</think>")[0].strip())


class _Scan:
    """One pass over a text; each closing tag that is not there is looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._touching = True
        self._leading = True
        self._fenced = False
        self._unclosed: set[str] = set()
        self._found: list[Block] = []

    def blocks(self) -> list[Block]:
        while token := _TOKEN.search(self._text, self._position):
            block = self._block(token)
            if token["fence"]:
                self._fenced = not self._fenced
            if block:
                self._found.append(block)
            self._touching = block is not None
            self._position = block.end if block else token.end()
        return self._found

    def _block(self, token: re.Match[str]) -> Block | None:
        name = (token["name"] or "").lower()
        start = token.start() + len(token["line"] or "")
        touching = self._touching and not self._text[self._position : token.start()].strip()
        self._leading = self._leading and touching
        if not name or self._fenced or not self._opens(token, name, start, touching):
            return None
        close = self._close(name, token.end())
        if close:
            return Block(start, close.end(), name, self._text[token.end() : close.start()])
        return self._cut(token, name, start)

    def _opens(self, token: re.Match[str], name: str, start: int, touching: bool) -> bool:
        if token["line"] is not None or touching:
            return True
        return name == _SCRATCHPAD and self._text[start - 1] != "`"

    def _close(self, name: str, position: int) -> re.Match[str] | None:
        if name in self._unclosed:
            return None
        close = _CLOSING[name].search(self._text, position)
        if close is None:
            self._unclosed.add(name)
        return close

    def _cut(self, token: re.Match[str], name: str, start: int) -> Block | None:
        on_its_own_line = self._leading and self._text[token.end() : token.end() + 1] in ("\n", "")
        if name != _SCRATCHPAD and not on_its_own_line:
            return None
        return Block(start, len(self._text), name, self._text[token.end() :].rstrip() + "\n")


def _in_place(block: Block) -> str:
    """The block under the one name; only its tags change where the body already stands as it should."""
    body = _inert(block.body)
    if block.name not in _PLAIN:
        return f"<think>\n{body.strip()}\n</think>"
    return f"<think>{body}</think>"


def _merged(pieces: Sequence[str]) -> str:
    said = dict.fromkeys(piece.strip() for piece in pieces if piece.strip())
    if not said:
        return _EMPTY
    alone = [piece for piece in pieces if piece.strip()]
    body = alone[0] if len(alone) == 1 else "\n".join(said)
    return f"<think>\n{_inert(body)}\n</think>\n"


def _without(text: str, blocks: Sequence[Block]) -> str:
    """The text without the blocks. What stood on both sides is kept apart: it must not become a new tag."""
    if not blocks:
        return text
    ends = [0, *(block.end for block in blocks)]
    starts = [*(block.start for block in blocks), len(text)]
    pieces = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    return "\n".join(stripped for piece in pieces if (stripped := piece.strip("\n")).strip())


def _inert(body: str) -> str:
    """The reasoning with nothing in it that would end its block."""
    return re.sub("<(?=/think>)", "&lt;", body)
