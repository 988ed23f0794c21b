"""What has happened in the turn so far, read from its messages: files seen, tests run, repairs tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from hermes_acp.agent.rules.report import Report, read_report
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

EMPTY_FILE = "(the file is empty)"
_FOLDER = re.compile(r"/( \(\d+ files?\))?$")
_NUMBERED = re.compile(r" *\d+\t(.*)")


@dataclass(slots=True)
class History:
    """The state of the work, as the messages tell it.

    `files` are as they stand now, `kept` as they stood when `report`, the best run so far, was made.
    `tried` are the contents that were tested since and did not help, `repaired` the places (path, line) of the
    repairs that did. `problem` is what stopped the work.
    """

    prompt: str = ""
    listing: tuple[str, ...] | None = None
    files: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    first_report: Report | None = None
    report: Report | None = None
    tried: set[tuple[str, str]] = field(default_factory=set)
    repaired: list[tuple[str, int]] = field(default_factory=list)
    is_tested: bool = False
    interpreter: str = "python"
    problem: str = ""

    def changed(self) -> list[str]:
        """The files that hold a repair of which is not known yet whether it helps."""
        return [path for path, text in self.files.items() if self.kept.get(path, text) != text]

    def take(self, call: ToolCall, result: ToolMessage) -> None:
        """Learn from one call and its result."""
        match call.name:
            case "list_files":
                self._listed(result)
            case "read_file":
                self._read(str(call.arguments.get("path")), result)
            case "patch":
                self._patched(call.arguments, result)
            case "terminal":
                self._ran(result)

    def _listed(self, result: ToolMessage) -> None:
        if result.is_error:
            self.problem = result.text
        else:
            self.listing = tuple(listed_files(result.text))

    def _read(self, path: str, result: ToolMessage) -> None:
        text = None if result.is_error else file_text(result.text)
        if text is None:
            self.unreadable.add(path)
        else:
            self.files[path] = self.kept[path] = text

    def _patched(self, arguments: Any, result: ToolMessage) -> None:
        path = str(arguments.get("path"))
        if result.is_error:
            self.problem = result.text
            return
        self.files[path] = self.files.get(path, "").replace(arguments["old_text"], arguments["new_text"], 1)
        self.is_tested = False

    def _ran(self, result: ToolMessage) -> None:
        report = read_report(result.text)
        self.is_tested = True
        if report is None:
            self._failed_to_run(result.text)
        elif self.report is None or report.is_better_than(self.report):
            self.first_report = self.first_report or report
            places = [(path, self._first_change(path)) for path in self.changed()]
            self.repaired += [place for place in places if place not in self.repaired]
            self.report, self.kept = report, dict(self.files)
            self.tried.clear()
        else:
            self.tried |= {(path, self.files[path]) for path in self.changed()}

    def _failed_to_run(self, output: str) -> None:
        if self.interpreter == "python" and "not found" in output:
            self.interpreter, self.is_tested = "python3", False
        else:
            self.problem = f"The tests did not run: {output.strip()}"

    def _first_change(self, path: str) -> int:
        """The number of the first line that differs from the kept content."""
        pairs = zip(self.kept[path].split("\n"), self.files[path].split("\n"), strict=False)
        return next((line for line, (old, new) in enumerate(pairs, 1) if old != new), 1)


def read_history(messages: Sequence[Message]) -> History:
    """The state after the messages since the last prompt."""
    turn = _last_turn(messages)
    history = History(prompt=turn[0].text if turn and isinstance(turn[0], UserMessage) else "")
    for call, result in _calls(turn):
        history.take(call, result)
    return history


def _last_turn(messages: Sequence[Message]) -> Sequence[Message]:
    starts = [at for at, message in enumerate(messages) if isinstance(message, UserMessage)]
    return messages[starts[-1] :] if starts else messages


def _calls(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolMessage]]:
    results = {message.call_id: message for message in messages if isinstance(message, ToolMessage)}
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from ((call, results[call.id]) for call in message.tool_calls if call.id in results)


def listed_files(text: str) -> list[str]:
    """The paths of files in a result of `list_files`: folders and notes are left out."""
    return [line for line in text.splitlines() if line and line[0] not in "[(" and not _FOLDER.search(line)]


def file_text(text: str) -> str | None:
    """The file in a result of `read_file`, without the numbers of its lines; None when it is not whole."""
    if text == EMPTY_FILE:
        return ""
    lines = [_NUMBERED.match(line) for line in text.split("\n")]
    if not all(lines):
        return None
    return "".join(f"{line[1]}\n" for line in lines if line)
