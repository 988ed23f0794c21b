"""What to do next: look, run the tests, read, repair, test again, and say how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from hermes_acp.agent.rules.history import History
from hermes_acp.agent.rules.names import deepest_frame, name_repairs
from hermes_acp.agent.rules.patches import smallest_patch
from hermes_acp.agent.rules.repairs import Repair, repairs
from hermes_acp.agent.rules.report import Failure, Report
from hermes_acp.agent.rules.source import Function, Project, Source, is_test_file, same_file
from hermes_acp.lazy_dataclasses import dataclass

MOST_TRIES = 12
_MOST_READS = 12
_MOST_LISTED = 12
_REPAIR = re.compile(r"\b(test|fail|fix|repair|mend|bug|broken|wrong|error)", re.IGNORECASE)
INTRODUCTION = "I am a set of rules, not a model: I can run unit tests and try a handful of general repairs. "


@dataclass(frozen=True, slots=True)
class Move:
    """One reply: what is said, what was thought before, and the tools that are called (name, arguments)."""

    text: str
    thought: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def next_move(history: History, tools: frozenset[str]) -> Move:
    """The reply to what has happened so far; `tools` are the names of those that may be called."""
    if history.problem:
        return _stopped(history)
    if history.listing is None:
        return _look(history, tools)
    if not _wants_repair(history) or not any(map(is_test_file, _python_files(history))):
        return _explained(history)
    if not {"terminal", "patch", "read_file"} <= tools:
        return Move("I would run the tests and try repairs, and in this mode I may do neither.")
    if history.report is None or (history.changed() and not history.is_tested):
        return _test(history)
    if not history.report.failures:
        return _repaired(history, history.report)
    wanted = _wanted_files(history, history.report)
    return _read(history.report, wanted) if wanted else _try(history, history.report)


def _wants_repair(history: History) -> bool:
    return _REPAIR.search(history.prompt) is not None


def _look(history: History, tools: frozenset[str]) -> Move:
    if "list_files" not in tools:
        return Move(INTRODUCTION + "Here I have no tool to look at the project with.")
    thought = "There is no model here. First of all: which files are there, and are there unit tests among them?"
    arguments = {"glob": "*.py"} if _wants_repair(history) else {}
    return Move(INTRODUCTION + "First I look at the project.", thought, (("list_files", arguments),))


def _test(history: History) -> Move:
    text = "Does that help?" if history.report else "There are unit tests. I run them."
    return Move(text, "", (("terminal", {"command": _test_command(history)}),))


def _test_command(history: History) -> str:
    """-B: without it, a change within the second of the last run can be hidden by stale bytecode."""
    tests = [path for path in _python_files(history) if is_test_file(path)]
    folders = {path.rpartition("/")[0] for path in tests}
    packages = {path.rpartition("/")[0] for path in _python_files(history) if path.endswith("/__init__.py")}
    is_plain = "" in folders or folders & packages
    discovery = "" if is_plain else f" discover -s {min(folders)}"
    return f"{history.interpreter} -B -m unittest{discovery}"


def _read(report: Report, wanted: list[str]) -> Move:
    first = report.failures[0]
    said = f"{_count(len(report.failures), 'test')} of {report.ran} failed. `{first.name}` says: `{_words(first)}`."
    thought = f"The failing test and the code that it tests: {', '.join(wanted)}."
    return Move(said, thought, tuple(("read_file", {"path": path}) for path in wanted))


def _try(history: History, report: Report) -> Move:
    repair = _next_repair(history, report)
    if repair is None:
        return _gave_up(history, report)
    again = "That was not it, so I take it back. " if history.changed() else ""
    before, after = _line_change(repair)
    text = f"{again}In {repair.path}, line {repair.line}: {repair.reason}. I try `{after}` for `{before}`."
    return Move(text, _suspicion(history, report), _patches(history, {repair.path: repair.applied()}))


def _patches(history: History, wanted: Mapping[str, str]) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The edits that bring every file to what it was when it was kept, and those given to what is wanted."""
    target = {**history.kept, **wanted}
    pairs = [(path, text, target[path]) for path, text in history.files.items() if target[path] != text]
    return tuple(("patch", {"path": path, **smallest_patch(before, after)}) for path, before, after in pairs)


def _next_repair(history: History, report: Report) -> Repair | None:
    if len(history.tried) >= MOST_TRIES:
        return None
    project = Project(history.kept)
    offered = chain.from_iterable(_offered(project, report, failure) for failure in report.failures)
    return next((item for item in offered if (item.path, item.applied()) not in history.tried), None)


def _offered(project: Project, report: Report, failure: Failure) -> Iterator[Repair]:
    if failure.is_about_a_name:
        yield from (repair for repair in name_repairs(project, failure) if repair.is_valid())
    yield from repairs(_suspects(project, report, failure), failure)


def _suspects(project: Project, report: Report, failure: Failure) -> list[Function]:
    """The function that raised the error, if one did, and then those that the failing tests use."""
    suspects = project.suspects(report.failing)
    place = deepest_frame(project, failure)
    node = place[0].function_at(place[1].line) if place else None
    return [Function(place[0], node), *suspects] if place and node else suspects


def _suspicion(history: History, report: Report) -> str:
    names = [f"`{item.name}`" for item in _suspects(Project(history.kept), report, report.failures[0])]
    return f"What the failing tests use, the most suspicious first: {', '.join(names[:6])}." if names else ""


def _line_change(repair: Repair) -> tuple[str, str]:
    """The first line that a repair changes, before and after."""
    before, after = repair.source.text.splitlines(), repair.applied().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
    old, new = changed[0] if changed else ("", after[-1])
    return old.strip(), new.strip()


def _wanted_files(history: History, report: Report) -> list[str]:
    """The files of failing tests, and what they import, that have not been read yet."""
    files = _python_files(history)
    tests = {path for failure in report.failures for path in files if _is_file_of(path, failure)}
    wanted = tests | {path for path in files if _is_namesake(path, tests)}
    for path, text in history.files.items():
        wanted |= {file for file in files if _is_imported(file, Source(path, text).imports())}
    unread = wanted - history.files.keys() - history.unreadable
    return sorted(unread, key=lambda path: (not is_test_file(path), path))[:_MOST_READS]


def _is_file_of(path: str, failure: Failure) -> bool:
    if any(same_file(frame.path, path) for frame in failure.frames):
        return True
    return failure.is_import and _module(path).endswith(failure.name)


def _is_namesake(path: str, tests: set[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(test.rpartition("/")[2] == f"test_{name}" for test in tests)


def _is_imported(path: str, modules: set[str]) -> bool:
    module = _module(path)
    return any(module == name or module.endswith(f".{name}") for name in modules)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _repaired(history: History, report: Report) -> Move:
    if history.first_report is None or not history.first_report.failures:
        return Move(f"All {report.ran} tests pass, so there is nothing that I could repair.")
    mended = history.first_report.failures[0]
    places = ", ".join(f"{path}, line {line}" for path, line in history.repaired)
    text = (
        f"All {report.ran} tests pass now. `{mended.name}` failed with `{_words(mended)}`; the fault was in {places}."
    )
    return Move(text, "The tests pass with the change: that is as much as rules can know.")


def _gave_up(history: History, report: Report) -> Move:
    if history.changed():
        return Move("That was not it either: I put the file back.", "", _patches(history, {}))
    first = report.failures[0]
    why = f"{_count(len(history.tried), 'repair')} did not help" if history.tried else "none of my repairs fits"
    text = (
        f"I cannot repair this: {why}. `{first.name}` still says `{_words(first)}`. A model would read what is meant."
    )
    return Move(text, "Rules only know common slips; this is none of them, or too far from the failing test.")


def _stopped(history: History) -> Move:
    reason = history.problem.strip().splitlines()[0] if history.problem.strip() else "a tool gave no answer"
    left = f" {', '.join(history.changed())} holds a change that was not tested." if history.changed() else ""
    return Move(f"I stop here: {reason[:300]}{left}")


def _explained(history: History) -> Move:
    text = (
        f"{_summary(history.listing or ())}\n\n"
        "What I can do: when a project has unit tests (`python -m unittest`) and one of them fails, "
        'say "repair the tests". I run them, look for the fault, try a repair and test it. '
        "For anything else a model is needed: see `hermes-acp-agent setup`."
    )
    return Move(text)


def _summary(files: Sequence[str]) -> str:
    if not files:
        return "I see no files here that I could do something with."
    shown = ", ".join(f"`{file}`" for file in files[:_MOST_LISTED]) + (", …" if len(files) > _MOST_LISTED else "")
    return f"I see {_count(len(files), 'file')}: {shown}."


def _python_files(history: History) -> list[str]:
    return [path for path in history.listing or () if path.endswith(".py")]


def _words(failure: Failure) -> str:
    return f"{failure.error}: {failure.message}"[:200] if failure.error != "AssertionError" else failure.message[:200]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
