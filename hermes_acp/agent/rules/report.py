"""What a run of unittest said: which tests failed, where, and with which words."""

from __future__ import annotations

import ast
import re
from typing import Any

from hermes_acp.lazy_dataclasses import dataclass

_RULE = "=" * 70
_HEAD = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([^)\n]+)\)", re.MULTILINE)
_FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d+)(?:, in (\S+))?\n(?: *(\S.*)\n)?', re.MULTILINE)
_ERROR = re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration))(?:: (.*))?$", re.MULTILINE)
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback: file, line (from 1), function and the code there."""

    path: str
    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True)
class Failure:
    """One test that failed: its dotted id, the traceback (the outermost frame first), the error and its text."""

    test: str
    frames: tuple[Frame, ...]
    error: str
    message: str

    @property
    def name(self) -> str:
        return self.test.rpartition(".")[2]

    @property
    def is_import(self) -> bool:
        """The file of the tests could not even be loaded."""
        return "_FailedTest" in self.test

    @property
    def is_about_a_name(self) -> bool:
        return self.error in ("NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError")

    def values(self) -> tuple[Any, Any] | None:
        """What was got and what was expected, when the message of assertEqual holds both in full."""
        left, operator, right = self.message.partition(" != ")
        got, expected = _literal(left.partition(" differ: ")[2] or left), _literal(right.partition(" : ")[0])
        if not operator or got is _UNKNOWN or expected is _UNKNOWN:
            return None
        return got, expected


@dataclass(frozen=True, slots=True)
class Report:
    """A run of all tests: how many ran, and those that failed."""

    ran: int
    failures: tuple[Failure, ...]

    @property
    def failing(self) -> frozenset[str]:
        return frozenset(failure.test for failure in self.failures)

    def is_better_than(self, earlier: Report) -> bool:
        """Fewer tests fail and none that passed; or a file loads that did not; or a name has been put right."""
        if self.failing < earlier.failing:
            return True
        mended_imports = {failure.test for failure in earlier.failures if failure.is_import} - self.failing
        return bool(mended_imports) or (self.failing == earlier.failing and self._got_past(earlier))

    def _got_past(self, earlier: Report) -> bool:
        said = {failure.test: failure.message for failure in self.failures}
        names = [failure for failure in earlier.failures if failure.is_about_a_name]
        return any(said[failure.test] != failure.message for failure in names)


def read_report(output: str) -> Report | None:
    """The report in the output of `python -m unittest`; None when there is none."""
    ran = _RAN.search(output)
    if ran is None:
        return None
    blocks = output[: ran.start()].split(_RULE)[1:]
    failures = tuple(failure for failure in map(_failure, blocks) if failure is not None)
    return Report(int(ran[1]), failures)


def _failure(block: str) -> Failure | None:
    head = _HEAD.search(block)
    if head is None:
        return None
    frames = tuple(Frame(path, int(line), function, code) for path, line, function, code in _FRAME.findall(block))
    errors = _ERROR.findall(block)
    error, message = errors[-1] if errors else ("", "")
    return Failure(_test_id(head[1], head[2]), frames, error.rpartition(".")[2], message)


def _test_id(name: str, where: str) -> str:
    """Since Python 3.11 the part in parentheses names the test too."""
    return where if where.endswith(f".{name}") else f"{where}.{name}"


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN
