"""What moves while a turn runs: shown under the text that is written for good, and gone with the turn."""

from __future__ import annotations

import time
from dataclasses import field

from hermes_acp.chat.cells import cut_end, cut_middle
from hermes_acp.chat.drawing import Pen, printable
from hermes_acp.chat.passages import Passages
from hermes_acp.lazy_dataclasses import dataclass

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 10

_TAIL_CHARACTERS = 4_000
_OUTPUT_LINES = 5
_THOUGHT_CHARACTERS = 400
_THOUGHT_LINES = 2


@dataclass(slots=True)
class Live:
    """The turn as it is at this moment. `doing` says in words what goes on, `began` when the turn did."""

    passages: Passages = field(default_factory=Passages)
    doing: str = ""
    began: float = field(default_factory=time.monotonic)
    thought: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)

    def think(self, text: str) -> None:
        """Keep the end of what the model thinks."""
        self.thought = (self.thought + text)[-_THOUGHT_CHARACTERS:]

    def draw(self, pen: Pen, rows: int) -> str:
        """The moving part, in at most so many rows; the last one says what goes on."""
        parts = [self._thinking(pen), *(pen.output(text, _OUTPUT_LINES) for text in self.outputs.values())]
        if tail := self.passages.tail:
            parts.append(pen.markdown(tail[-_TAIL_CHARACTERS:]))
        lines = "".join(parts).splitlines()[-max(rows - 1, 0) :]
        return "\n".join([*lines, self._status(pen).rstrip("\n")])

    def _thinking(self, pen: Pen) -> str:
        if not self.thought.strip() or self.passages.tail:
            return ""
        drawn = pen.thought(" ".join(self.thought.split()))
        return "".join(f"{line}\n" for line in drawn.splitlines()[-_THOUGHT_LINES:])

    def _status(self, pen: Pen) -> str:
        seconds = time.monotonic() - self.began
        frame = FRAMES[int(seconds * FRAMES_A_SECOND) % len(FRAMES)]
        names = ", ".join(self.running.values())
        words = " ".join(printable(names or self.doing or "Working").split())
        tail = f" · {seconds:.0f} s · Ctrl-C interrupts"
        room = max(pen.width - len(tail) - 3, 8)
        return pen.quiet(cut_end(f"{frame} {cut_middle(words, room)}{tail}", pen.width))
