"""Python files as the rules look at them: functions, tests, and which of them use which."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property

from hermes_acp.lazy_dataclasses import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_LINE_END = re.compile(r"\r\n|\r|\n")
_MOST_STEPS = 4


class Source:
    """One file: its path, its text, and the functions in it. A file that is not valid Python has none."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def tree(self) -> ast.Module:
        return parsed(self.text) or ast.Module([], [])

    @cached_property
    def functions(self) -> tuple[FunctionNode, ...]:
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, FunctionNode))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno or 0, node.end_col_offset or 0)

    def code(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def line_of(self, offset: int) -> int:
        """The number, from 1, of the line that holds an offset."""
        return self.text.count("\n", 0, offset) + 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Where a line begins and ends, its line end left out."""
        start = self._starts[line - 1]
        end = _LINE_END.search(self.text, start)
        return start, end.start() if end else len(self.text)

    def function_at(self, line: int) -> FunctionNode | None:
        """The innermost function around a line."""
        around = [node for node in self.functions if node.lineno <= line <= (node.end_lineno or 0)]
        return max(around, key=lambda node: node.lineno, default=None)

    def imports(self) -> set[str]:
        """The dotted names of the modules that are imported, and what may be modules imported from them."""
        names: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return names

    def _offset(self, line: int, column: int) -> int:
        """The offset of a place as `ast` gives it: a line, and a column counted in bytes of UTF-8."""
        start = self._starts[line - 1]
        text = self.text[start : self.line_span(line)[1]]
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="replace")))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the project, and where it stands."""

    source: Source
    node: FunctionNode

    @property
    def name(self) -> str:
        return self.node.name


class Project:
    """The files that were read: the tests, and what they test."""

    def __init__(self, files: Mapping[str, str]) -> None:
        sources = [Source(path, text) for path, text in files.items()]
        self.tests = [source for source in sources if is_test_file(source.path)]
        self.sources = [source for source in sources if not is_test_file(source.path)]
        self._functions = [Function(source, node) for source in self.sources for node in source.functions]

    def source_at(self, path: str) -> Source | None:
        """The file that a traceback names: the one whose path ends its path."""
        return next((source for source in self.sources if same_file(path, source.path)), None)

    def test(self, name: str) -> FunctionNode | None:
        return next((node for node in self._tests() if node.name == name), None)

    def suspects(self, failing: frozenset[str]) -> list[Function]:
        """The functions that the failing tests use: those first that most of them use and fewest passing ones.

        Spectrum-based fault localisation, on the calls that can be read in the text; among equals, the one
        that a test calls itself comes before the one that is called by another.
        """
        names = {test.rpartition(".")[2] for test in failing}
        reached = {node.name: self._reached(node) for node in self._tests()}
        fails = [steps for name, steps in reached.items() if name in names]
        passes = [steps for name, steps in reached.items() if name not in names]

        def blame(function: Function) -> tuple[int, int, int]:
            failed = [steps[function] for steps in fails if function in steps]
            return -len(failed), sum(function in steps for steps in passes), min(failed)

        used = [function for function in self._functions if any(function in steps for steps in fails)]
        return sorted(used, key=blame)

    @cached_property
    def _set_up(self) -> set[str]:
        nodes = [node for source in self.tests for node in source.functions if node.name.startswith("setUp")]
        return set().union(*map(used_names, nodes))

    def _tests(self) -> Iterator[FunctionNode]:
        for source in self.tests:
            yield from (node for node in source.functions if node.name.startswith("test"))

    def _reached(self, node: FunctionNode) -> dict[Function, int]:
        """The project's functions that a test uses, each with the number of calls on the way to it."""
        steps: dict[Function, int] = {}
        names = used_names(node) | self._set_up
        for step in range(_MOST_STEPS):
            found = [item for item in self._functions if item not in steps and item.name in names]
            steps |= dict.fromkeys(found, step)
            names = set().union(*(used_names(item.node) for item in found))
        return steps


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a file, None when it is not valid Python; what Python would warn of is ignored."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def used_names(node: ast.AST) -> set[str]:
    """Every name and attribute that is mentioned."""
    found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def is_test_file(path: str) -> bool:
    """Whether `python -m unittest` takes the file for tests: its name is `test*.py`."""
    return path.rpartition("/")[2].startswith("test")


def same_file(absolute: str, relative: str) -> bool:
    return absolute == relative or absolute.endswith("/" + relative.removeprefix("./"))
