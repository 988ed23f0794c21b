"""What is seen of a call of a tool that has ended: a line with what came of it, or all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from hermes_acp.cards import ToolResult
from hermes_acp.chat.cells import cut_middle
from hermes_acp.chat.drawing import Hung, Pen, block, printable
from hermes_acp.events import ToolPrepared
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import counted, shorten_words, visible

_REASON = 300
_LINES, _LINES_OF_FAILURE = 3, 8
"""Lines of a command's output that stay under its line."""

_LEAST_TITLE = 30

_CUT = " characters left out …]"
"""Stands in an output of which there is only the beginning and the end; how many lines it had is not known."""


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call with its result; `prepared` is None where only its end is known."""

    name: str
    result: ToolResult
    seconds: float = 0.0
    prepared: ToolPrepared | None = None

    @property
    def title(self) -> str:
        """What it was, in one line, as it takes effect."""
        return visible(self.prepared.title if self.prepared else self.name).replace("\n", " ⏎ ")

    @property
    def output(self) -> str:
        """What came of it, as far as the person is shown it."""
        shown = printable(self.result.for_person).rstrip("\n")
        if self._exit_code is None:
            return shown
        # The line that says how it ended is among the remarks.
        above, _, last = shown.rpartition("\n")
        shown = above if last.startswith("[") and last.endswith("]") else shown
        return "" if shown.strip() == "(no output)" else shown

    @property
    def failed(self) -> bool:
        return self.result.is_error or bool(self._exit_code)

    @property
    def runs(self) -> bool:
        """Whether it is a command whose output is of interest."""
        return self._exit_code is not None

    @property
    def _exit_code(self) -> int | None:
        code = (self.result.raw or {}).get("exit_code")
        return code if isinstance(code, int) else None

    def remarks(self) -> list[str]:
        """How and where it ended, in a few words."""
        raw = self.result.raw or {}
        words = [f"exit {self._exit_code}"] if self._exit_code else []
        words += ["stopped: it took too long"] if raw.get("timed_out") else []
        words += [str(raw["sandbox"]).partition(":")[0].rstrip(".").lower()] if raw.get("sandbox") else []
        return [*words, f"{self.seconds:.1f} s"] if self.seconds >= 1 else words


def outcome(pen: Pen, call: EndedCall) -> str:
    """A line for a call, and under it why it failed, or the last lines of what a command wrote."""
    parts = [*_head(pen.width, call)]
    if call.runs:
        return pen.draw(*parts) + _last_lines(pen, call)
    if call.result.is_error:
        first = next((line for line in call.output.splitlines() if line.strip()), "")
        parts.append(_indented(shorten_words(first.strip(), _REASON)))
    return pen.draw(*parts)


def whole(pen: Pen, call: EndedCall, root: str) -> str:
    """All that there is to see of a call: nothing in it is cut."""
    mark, _ = _mark(call)
    parts: list[RenderableType] = [Hung(f"{mark} ", call.title, "bold")]
    if remarks := call.remarks():
        parts.append(_indented(" · ".join(remarks)))
    if given := _given(call):
        parts.append(block(visible(given)))
    lines = [line.expandtabs(4) for line in call.output.splitlines()]
    output = [Padding(Text(line, overflow="fold"), (0, 0, 0, 2)) for line in lines]
    return pen.draw(*parts) + pen.diffs(call.result.diffs, root) + pen.draw(*output)


def _head(width: int, call: EndedCall) -> Sequence[RenderableType]:
    """The line, on which the remarks stand if the title is not cut too short by them."""
    mark, style = _mark(call)
    remarks = "".join(f" · {word}" for word in call.remarks())
    room = width - 2 - cell_len(remarks)
    if remarks and cell_len(call.title) > room < _LEAST_TITLE:
        alone = Text.assemble((f"{mark} ", style), cut_middle(call.title, width - 2))
        return [alone, _indented(remarks.removeprefix(" · "))]
    return [Text.assemble((f"{mark} ", style), cut_middle(call.title, room), (remarks, "quiet"))]


def _mark(call: EndedCall) -> tuple[str, str]:
    return ("✗", "bad") if call.failed else ("✓", "good")


def _last_lines(pen: Pen, call: EndedCall) -> str:
    lines = [line for line in call.output.splitlines() if line.strip()]
    most = _LINES_OF_FAILURE if call.failed else _LINES
    more = len(lines) - most
    if more <= 1:
        return pen.output(call.output, len(lines))
    many = "more" if _CUT in call.output else counted(more, "line")
    return pen.draw(Text(f"  │ … {many} before (/show)", "quiet")) + pen.output(call.output, most)


def _given(call: EndedCall) -> str:
    """What it was given, beyond what its title and its edits say."""
    arguments = dict(call.prepared.arguments) if call.prepared else {}
    if call.runs and isinstance(command := arguments.get("command"), str):
        return "" if command.strip() == call.title else command
    if call.result.diffs or not arguments:
        return ""
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)


def _indented(text: str) -> RenderableType:
    return Padding(Text(text, "quiet", overflow="fold"), (0, 0, 0, 2))
