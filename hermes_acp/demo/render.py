"""What a conversation looks like in a terminal: updates go in, text to be written comes out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from hermes_acp.demo.palette import Palette, printable
from hermes_acp.demo.wrapping import Flow, wrapped

_DIFF_CONTEXT = 2
_MOST_LINES = 40
_FEW_LINES = 4
_MARGIN = "  │ "


@dataclass(slots=True)
class Card:
    """A tool call as far as it is known, and what of it has been shown."""

    title: str = ""
    kind: str = "other"
    status: str = "pending"
    content: Sequence[dict[str, Any]] = ()
    raw_output: Any = None
    is_announced: bool = False
    shown_output: str = ""
    shown_diffs: list[dict[str, Any]] = field(default_factory=list)

    def take(self, update: dict[str, Any]) -> None:
        """Keep what an update says; members that it lacks stay as they were (ACP: tool calls)."""
        self.title = str(update.get("title") or self.title)
        self.kind = str(update.get("kind") or self.kind)
        self.status = str(update.get("status") or self.status)
        if isinstance(update.get("content"), list):
            self.content = [item for item in update["content"] if isinstance(item, dict)]
        if update.get("rawOutput") is not None:
            self.raw_output = update["rawOutput"]

    @property
    def texts(self) -> list[str]:
        """The text blocks of the card."""
        blocks = [item.get("content") or {} for item in self.content if item.get("type") == "content"]
        return [str(block.get("text") or "") for block in blocks]

    @property
    def output(self) -> str:
        return "\n".join(self.texts)


class Conversation:
    """Renders the updates of one session in their order; `root` is the folder that paths are shown from, `columns`
    tells how wide the terminal is, 0 where that is not known."""

    def __init__(self, palette: Palette, root: str = "", columns: Callable[[], int] = lambda: 0) -> None:
        self._palette = palette
        self._root = root
        self._columns = columns
        self._flow_of = Flow(0)
        self._cards: dict[str, Card] = {}
        self._flowing: Literal["", "text", "thought"] = ""

    def update(self, update: dict[str, Any]) -> str:
        """What to write for one `session/update`; nothing for kinds that are not shown."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                return self._flow("text", update)
            case "agent_thought_chunk":
                return self._flow("thought", update)
            case "tool_call" | "tool_call_update":
                return self._card(update)
            case "plan":
                return self._block(self._plan(update.get("entries") or ()))
        return ""

    def question(self, params: dict[str, Any]) -> str:
        """What to write for a `session/request_permission`: the card, what it will do, and numbered choices."""
        call = params.get("toolCall") or {}
        card = self._cards.setdefault(str(call.get("toolCallId")), Card())
        asked = Card()
        asked.take(call)
        card.take({**call, "content": None})
        names = [printable(str(option.get("name"))) for option in params.get("options") or ()]
        choices = [
            self._palette.asking(line) for number, name in enumerate(names, 1) for line in self._choice(number, name)
        ]
        shown = [*self._announced(card), *self._diffs(card, asked.content), *self._said(asked)]
        return self._block([*shown, self._palette.asking("  ? May it?"), *choices])

    def _choice(self, number: int, name: str) -> list[str]:
        mark = f"    {number} "
        first, *more = wrapped(name, self._columns(), " " * len(mark))
        return [mark + first.lstrip(), *more]

    def end(self) -> str:
        """What closes a text that is still flowing."""
        ended = f"{self._styled(self._flow_of.end())}\n" if self._flowing else ""
        self._flowing = ""
        return ended

    def _flow(self, kind: Literal["text", "thought"], update: dict[str, Any]) -> str:
        text = printable(str((update.get("content") or {}).get("text") or ""))
        if not text:
            return ""
        begin = "" if self._flowing == kind else self.end() + "\n"
        if begin:
            self._flow_of = Flow(self._columns())
        self._flowing = kind
        return begin + self._styled(self._flow_of.add(text))

    def _styled(self, text: str) -> str:
        return self._palette.thought(text) if self._flowing == "thought" else text

    def _block(self, lines: Iterable[str]) -> str:
        text = "".join(f"{line}\n" for line in lines)
        return self._opening() + text if text else ""

    def _opening(self) -> str:
        return self.end() + "\n" if self._flowing else ""

    def _card(self, update: dict[str, Any]) -> str:
        card = self._cards.setdefault(str(update.get("toolCallId")), Card())
        was_over = card.status in ("completed", "failed")
        card.take(update)
        if was_over or card.status == "pending":
            return ""
        if card.status == "in_progress":
            return self._block(self._progress(card))
        return self._block(self._ending(card))

    def _progress(self, card: Card) -> list[str]:
        if card.kind != "execute":
            return []
        return [*self._announced(card), *self._output(card, whole_lines=True)]

    def _ending(self, card: Card) -> list[str]:
        lines = self._diffs(card, card.content)
        if card.kind == "execute":
            lines += [*self._announced(card), *self._output(card, whole_lines=False)]
        is_good = card.status == "completed"
        mark = self._palette.good("✓") if is_good else self._palette.bad("✗")
        lines.append(f"{mark} {self._title(card)}{self._exit_code(card)}")
        if card.kind != "execute" and not (is_good and card.kind in ("read", "edit")):
            lines += self._excerpt(card.output)
        return lines

    def _announced(self, card: Card) -> list[str]:
        if card.is_announced:
            return []
        card.is_announced = True
        return [f"{self._palette.strong('●')} {self._title(card)}"]

    def _title(self, card: Card) -> str:
        return self._palette.strong(printable(card.title).replace("\n", " ⏎ "))

    def _exit_code(self, card: Card) -> str:
        code = card.raw_output.get("exit_code") if isinstance(card.raw_output, dict) else None
        return "" if code is None else self._palette.quiet(f" (exit code {code})")

    def _output(self, card: Card, *, whole_lines: bool) -> list[str]:
        text = without_fence(card.output)
        if whole_lines:
            text = text[: text.rfind("\n") + 1]
        added = text.removeprefix(card.shown_output)
        if not text.startswith(card.shown_output) and card.shown_output.rstrip().endswith(text.rstrip()):
            return []
        card.shown_output = text
        return [self._palette.quiet(_MARGIN + line) for line in shortened(printable(added).splitlines(), _MOST_LINES)]

    def _excerpt(self, text: str) -> list[str]:
        lines = shortened(printable(without_fence(text)).splitlines(), _FEW_LINES)
        return [self._palette.quiet(_MARGIN + line) for line in lines]

    def _said(self, asked: Card) -> list[str]:
        """The words of a question, a command left out that the title shows in full already."""
        texts = [without_fence(text).rstrip("\n") for text in asked.texts]
        lines = [line for text in texts if text != asked.title for line in printable(text).splitlines()]
        width = self._columns()
        return [self._palette.quiet(part) for line in lines for part in wrapped(line, width, _MARGIN)]

    def _diffs(self, card: Card, content: Sequence[dict[str, Any]]) -> list[str]:
        new = [item for item in content if item.get("type") == "diff" and item not in card.shown_diffs]
        card.shown_diffs += new
        return [line for item in new for line in self._diff(item)]

    def _diff(self, item: dict[str, Any]) -> list[str]:
        path = printable(str(item.get("path")))
        shown = PurePath(path).relative_to(self._root) if self._is_inside(path) else path
        lines = diff_lines(item.get("oldText"), str(item.get("newText")))
        return [f"  {self._palette.place(str(shown))}", *(f"  {self._coloured(line)}" for line in lines)]

    def _is_inside(self, path: str) -> bool:
        return bool(self._root) and PurePath(path).is_relative_to(self._root)

    def _coloured(self, line: str) -> str:
        match line[:1]:
            case "+":
                return self._palette.good(line)
            case "-":
                return self._palette.bad(line)
            case "@":
                return self._palette.place(line)
        return self._palette.quiet(line)

    def _plan(self, entries: Iterable[dict[str, Any]]) -> list[str]:
        marks = {"completed": "✓", "in_progress": "●"}
        return [
            f"{marks.get(str(entry.get('status')), '○')} {printable(str(entry.get('content')))}" for entry in entries
        ]


def diff_lines(old: str | None, new: str) -> list[str]:
    """The lines of a unified diff without its file names; everything is added when `old` is None."""
    before = [] if old is None else printable(old).splitlines()
    lines = difflib.unified_diff(before, printable(new).splitlines(), n=_DIFF_CONTEXT, lineterm="")
    return list(lines)[2:]


def without_fence(text: str) -> str:
    """The text inside a Markdown code block, or the text itself when it is none."""
    lines = text.splitlines(keepends=True)
    if not lines or not lines[0].startswith("```"):
        return text
    fence = lines[0][: len(lines[0]) - len(lines[0].lstrip("`"))]
    is_closed = len(lines) > 1 and lines[-1].strip() == fence
    return "".join(lines[1:-1] if is_closed else lines[1:])


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """The lines, those in the middle left out when there are more than `most`."""
    if len(lines) <= most:
        return list(lines)
    head = most // 2
    tail = most - head
    return [*lines[:head], f"… {len(lines) - most} more lines …", *lines[-tail:]]
