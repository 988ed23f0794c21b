"""What a conversation looks like in a terminal: text with escape codes of our own, and of nobody else."""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from hermes_acp.agent.trust import TRUST
from hermes_acp.cards import Diff
from hermes_acp.chat.cells import cut_end
from hermes_acp.events import PlanEntry, Severity
from hermes_acp.host import ApprovalRequest
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean, plain, visible

WIDEST = 120
"""Columns: longer lines are hard to read."""

_C1 = re.compile("[\x80-\x9f]")
_CODES = re.compile(r"\x1b\[[\d;]*m")
_TRAILING = re.compile(r"[ ]+((?:\x1b\[[\d;]*m)*)$", re.MULTILINE)
_THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.h1": "bold",
        "markdown.h2": "bold",
        "markdown.link": "cyan",
        "markdown.link_url": "cyan",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "prompt": "bold",
        "quiet": "dim",
        "thought": "dim italic",
        "good": "green",
        "bad": "red",
        "asking": "yellow",
        "place": "cyan",
    }
)
_SEVERITY: dict[Severity, str] = {"info": "quiet", "warning": "asking", "error": "bad"}
_PLAN = {"completed": ("✓", "good"), "in_progress": ("▸", "bold"), "pending": ("○", ""), "cancelled": ("✗", "quiet")}
_CONTEXT = 3
_SAID = 30
"""Lines of what the person said that are shown again: they know the rest."""

_NO_END = "(no newline at the end)"


def printable(text: str) -> str:
    """Text of a model or a program without anything that a terminal would obey."""
    return _C1.sub("", plain(clean(text)).replace("\r\n", "\n").replace("\r", "\n"))


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws in so many columns, with colours or without any."""

    width: int
    colour: bool = True

    def markdown(self, text: str) -> str:
        """A passage of the answer."""
        from hermes_acp.chat.markdown import formatted

        drawn = self.draw(formatted(printable(text)))
        lines = drawn.split("\n")
        shown = [at for at, line in enumerate(lines) if _CODES.sub("", line).strip()]
        return "".join(f"{line}\n" for line in lines[shown[0] : shown[-1] + 1]) if shown else ""

    def said(self, text: str) -> str:
        """What the person said; of a long paste the beginning."""
        lines = printable(text).split("\n")
        more = len(lines) - _SAID
        shown = lines if more <= 1 else [*lines[:_SAID], f"… {more} more lines"]
        return self.draw(Hung("› ", "\n".join(shown), "prompt"))

    def quiet(self, text: str) -> str:
        """A remark."""
        return self.draw(Text(printable(text), "quiet"))

    def thought(self, text: str) -> str:
        """A piece of what the model thinks."""
        return self.draw(Text(printable(text), "thought"))

    def notice(self, severity: Severity, title: str, text: str = "") -> str:
        """Something that the person should know."""
        words = f"{printable(title)}: {printable(text)}" if text else printable(title)
        return self.draw(Hung("! ", words, _SEVERITY[severity]))

    def plan(self, entries: Iterable[PlanEntry]) -> str:
        """The list of tasks."""
        return self.draw(*(_task(entry) for entry in entries))

    def output(self, text: str, lines: int) -> str:
        """The last lines of a program's output."""
        last = [line for line in printable(text).splitlines() if line.strip()][-lines:] if lines else []
        return self.draw(*(Text(cut_end(f"  │ {line.expandtabs(4)}", self.width), "quiet") for line in last))

    def diffs(self, diffs: Iterable[Diff], root: str, most: int = 0) -> str:
        """Edits as unified diffs, at most so many lines each (0: all of them)."""
        return "".join(self.draw(*_diff(diff, root, most)) for diff in diffs)

    def request(self, request: ApprovalRequest, root: str) -> str:
        """Exactly what permission is asked for, with nothing hidden."""
        parts: list[RenderableType] = [Hung("? ", "Run" if request.command else visible(request.title), "asking")]
        if request.effect in ("call", "query"):
            written = json.dumps(dict(request.arguments), ensure_ascii=False, indent=2, default=str)
            parts.append(block(visible(written)))
        elif request.effect == "switch_mode":
            parts.append(block(visible(str(request.arguments.get("plan", "")))))
        elif request.command and not request.diffs:
            parts += [block(visible(request.command)), Text(f"  in {visible(request.cwd)}", "quiet")]
        parts.append(Padding(Text(visible(request.reason), "quiet"), (0, 0, 0, 2)))
        if request.always and request.tool != TRUST:
            parts.append(
                Padding(Text(f"“session” and “always” mean {visible(request.always)}.", "quiet"), (0, 0, 0, 2))
            )
        return self.diffs(request.diffs, root) + self.draw(*parts)

    def question(self, text: str, choices: Sequence[str]) -> str:
        """A question with numbered choices."""
        numbered = [Hung(f"  {number} ", visible(choice), "") for number, choice in enumerate(choices, 1)]
        return self.draw(Hung("? ", visible(text), "asking"), *numbered)

    def draw(self, *parts: RenderableType) -> str:
        """Text and other parts as they are written, each on lines of its own."""
        file = io.StringIO()
        console = Console(
            file=file,
            width=max(self.width, 10),
            force_terminal=self.colour,
            color_system="standard" if self.colour else None,
            no_color=not self.colour,
            theme=_THEME,
            highlight=False,
            emoji=False,
            markup=False,
            legacy_windows=False,
        )
        for part in parts:
            console.print(part)
        return clean(_TRAILING.sub(r"\1", file.getvalue()))


@dataclass(frozen=True, slots=True)
class Hung:
    """Text after a mark, that goes on below its own beginning."""

    mark: str
    text: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - cell_len(self.mark), 1)
        begins = self.mark
        for line in Text(self.text.rstrip("\n"), self.style).wrap(console, room, overflow="fold", tab_size=4):
            yield Text(begins, self.style) + line
            begins = " " * cell_len(self.mark)


def block(text: str) -> RenderableType:
    """Text that is shown as it is, set off from the rest."""
    return Padding(Text(text.rstrip("\n").expandtabs(4), "bold", overflow="fold"), (0, 0, 0, 4))


def _task(entry: PlanEntry) -> Text:
    mark, style = _PLAN[entry.status]
    return Text(f"  {mark} {' '.join(printable(entry.content).split())}", style)


def _diff(diff: Diff, root: str, most: int) -> list[Text]:
    old, new = _same_ends(diff.old_text or "", diff.new_text)
    lines = list(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:]
    path = diff.path.removeprefix(f"{root}/") if root else diff.path
    head = Text(f"  {visible(path)}{' (new)' if diff.old_text is None else ''}", "place")
    if most and len(lines) > most:
        lines = [*lines[:most], f"… {len(lines) - most} more lines (/show)"]
    return [head, *(_diff_line(line) for line in lines)]


def _same_ends(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts in lines; carriage returns that end every line of both are not shown."""
    before, after = _lines(old), _lines(new)
    if all(line.endswith("\r") for line in [*before, *after]):
        return [line.removesuffix("\r") for line in before], [line.removesuffix("\r") for line in after]
    return before, after


def _lines(text: str) -> list[str]:
    """The lines of a text; that the last one has no end is a line too."""
    *lines, last = text.split("\n")
    return [*lines, last, _NO_END] if last else lines


def _diff_line(line: str) -> Text:
    style = {"+": "good", "-": "bad", "@": "place"}.get(line[:1], "quiet")
    return Text(f"  {visible(line).expandtabs(4)}", style, overflow="fold")
