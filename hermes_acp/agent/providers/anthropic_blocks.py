"""The content blocks of a Messages reply, put together from their deltas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from hermes_acp.agent.providers.base import Delta, ReplyIds
from hermes_acp.agent.providers.drafted import Draft
from hermes_acp.agent.providers.pieces import Pieces, mend
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import ToolCall

KIND_OF_DELTA: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}
"""The blocks that a delta can belong to, by its type."""

_GAP = "\n\n"


@dataclass(slots=True)
class _Block:
    """A block as the server began it. `start` and `end` are places in the prose that a text is part of."""

    kind: str
    fields: Mapping[str, Any]
    start: int = 0
    end: int = 0
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    draft: Draft | None = None


class _Prose:
    """What several blocks say, as one text: a blank line parts those between which something else stood.

    It is tangled when blocks spoke by turns, so that none has a place of its own.
    """

    def __init__(self) -> None:
        self._pieces = Pieces()
        self._last: _Block | None = None
        self._length = 0
        self.is_tangled = False

    @property
    def text(self) -> str:
        return self._pieces.text

    def add(self, block: _Block, piece: str, *, parted: bool) -> str:
        """What can be shown now that a block said this; it may be empty."""
        gap = ""
        if block is not self._last:
            gap = self._begin(block, parted)
        shown = gap + self._pieces.add(piece)
        self._length += len(shown) - len(gap)
        block.end = self._length
        return shown

    def close(self) -> str:
        """What is left to show when no more will come."""
        rest = self._pieces.close()
        self._length += len(rest)
        if self._last is not None:
            self._last.end = self._length
        return rest

    def _begin(self, block: _Block, parted: bool) -> str:
        gap = self._pieces.add(_GAP) if self._last is not None and parted else ""
        self._length += len(gap)
        self.is_tangled = self.is_tangled or block.end > 0
        self._last = block
        block.start = self._length
        return gap


class MessageBlocks:
    """All blocks of one reply, in the order in which they began.

    A delta finds its block by `index`. Servers that number badly are borne with: a block that begins takes
    its number from the one before, and a delta of another kind than its block begins one.
    """

    def __init__(self) -> None:
        self._ids = ReplyIds()
        self._all: list[_Block] = []
        self._open: dict[Any, _Block] = {}
        self._text = _Prose()
        self._thoughts = _Prose()

    @property
    def text(self) -> str:
        return self._text.text

    @property
    def thoughts(self) -> str:
        return self._thoughts.text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(_call(block) for block in self._all if block.draft)

    @property
    def cut(self) -> bool:
        """Whether the last call ends in the middle of its arguments."""
        drafts = [block.draft for block in self._all if block.draft]
        return bool(drafts) and drafts[-1].is_cut

    @property
    def layout(self) -> list[dict[str, Any]]:
        """What must be known beside text and calls to write the blocks again as they came; [] when nothing must.

        Thoughts are kept as they came, texts by their places in the whole text, calls by their order.
        """
        if not any("thinking" in block.kind for block in self._all):
            return []
        if self._text.is_tangled:
            thoughts = [_kept(block) for block in self._all if "thinking" in block.kind]
            calls = [_kept(block) for block in self._all if block.draft]
            return [*thoughts, {"type": "text", "start": 0, "end": len(self.text)}, *calls]
        return [_kept(block) for block in self._all]

    def begin(self, index: Any, fields: Mapping[str, Any]) -> Iterator[Delta]:
        """Take the beginning of a block, which may say something already, or everything."""
        kind = fields.get("type")
        if kind not in ("text", "thinking", "redacted_thinking", "tool_use"):
            return
        block = self._new(index, kind, fields)
        if block.draft and block.draft.name:
            yield ToolDrafted(block.draft.id, block.draft.name)
        yield from self._said(block, _word(fields, kind))

    def add(self, index: Any, delta: Mapping[str, Any]) -> Iterator[Delta]:
        """Take a delta of a block."""
        kind = KIND_OF_DELTA.get(delta.get("type", ""))
        if kind is None:
            return
        block = self._open.get(index) or (self._all[-1] if index is None and self._all else None)
        if block is None or block.kind != kind:
            block = self._new(index, kind, {"type": kind})
        if block.draft:
            block.draft.add(delta.get("partial_json"))
        elif "signature" in delta:
            block.signature = _word(delta, "signature")
        else:
            yield from self._said(block, _word(delta, kind))

    def close(self) -> Iterator[Delta]:
        """What is left to show when no more will come."""
        if thought := self._thoughts.close():
            yield ReasoningDelta(thought, self._ids.thought)
        if text := self._text.close():
            yield TextDelta(text, self._ids.text)

    def _new(self, index: Any, kind: str, fields: Mapping[str, Any]) -> _Block:
        block = _Block(kind, fields)
        if kind == "tool_use":
            block.draft = Draft(mend(_word(fields, "id")), name=mend(_word(fields, "name")))
        self._all.append(block)
        self._open[index] = block
        return block

    def _said(self, block: _Block, piece: str) -> Iterator[Delta]:
        if not piece:
            return
        if block.kind == "text":
            shown = self._text.add(block, piece, parted=self._is_parted(block))
            if shown:
                yield TextDelta(shown, self._ids.text)
        elif block.kind == "thinking":
            block.pieces.append(piece)
            shown = self._thoughts.add(block, piece, parted=True)
            if shown:
                yield ReasoningDelta(shown, self._ids.thought)

    def _is_parted(self, block: _Block) -> bool:
        """Whether something else stands before a block than a block of its kind; asked at its first piece only."""
        if block.end or len(self._all) < 2:
            return False
        return self._all[self._all.index(block) - 1].kind != block.kind


def _call(block: _Block) -> ToolCall:
    """The call of a block; its arguments are those that came with its beginning, where no others came."""
    draft = block.draft or Draft()
    if not draft.pieces:
        draft.add(block.fields.get("input"))
    return draft.call()


def _kept(block: _Block) -> dict[str, Any]:
    match block.kind:
        case "text":
            return {"type": "text", "start": block.start, "end": block.end}
        case "tool_use":
            return {"type": "tool_use"}
        case "thinking":
            thought = {**block.fields, "thinking": "".join(block.pieces)}
            return _mended(thought | ({"signature": block.signature} if block.signature else {}))
        case _:
            return _mended(block.fields)


def _mended(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with no half of a surrogate pair anywhere, so that they can be written as UTF-8."""
    whole: dict[str, Any] = json.loads(mend(json.dumps(fields, ensure_ascii=False)))
    return whole


def _word(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
