"""The repair of a misspelt name, from what Python itself says about it."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from hermes_acp.agent.rules.repairs import Repair
from hermes_acp.agent.rules.report import Failure, Frame
from hermes_acp.agent.rules.source import Project, Source, used_names

_WRONG = re.compile(r"(?:name|attribute|import name|local variable|variable) '(\w+)'")
_SUGGESTED = re.compile(r"Did you mean: '([\w.]+)'")


def name_repairs(project: Project, failure: Failure) -> Iterator[Repair]:
    """Put an unknown name right: where it is used, or, when a test uses it, where it should have been defined."""
    wrong = _WRONG.search(failure.message)
    place = deepest_frame(project, failure)
    if wrong and place:
        yield from _in_use(*place, wrong[1], _spellings(project, failure, wrong[1]))
    elif wrong:
        yield from _in_definition(project, wrong[1])


def _in_use(source: Source, frame: Frame, wrong: str, spellings: list[str]) -> Iterator[Repair]:
    for other in spellings:
        for found in re.compile(rf"\b{wrong}\b").finditer(source.text, *source.line_span(frame.line)):
            yield Repair(source, *found.span(), other, f"`{wrong}` is not known here, `{other}` is")


def _in_definition(project: Project, wanted: str) -> Iterator[Repair]:
    defined = {node.name: source for source in project.sources for node in source.functions}
    for name in difflib.get_close_matches(wanted, sorted(defined), n=3, cutoff=0.7):
        source = defined[name]
        if found := re.search(rf"\bdef ({name})\b", source.text):
            yield Repair(source, *found.span(1), wanted, f"the test calls `{wanted}`, and only `{name}` is defined")


def deepest_frame(project: Project, failure: Failure) -> tuple[Source, Frame] | None:
    """The innermost line of the traceback that stands in a file of the project, tests left out."""
    for frame in reversed(failure.frames):
        if source := project.source_at(frame.path):
            return source, frame
    return None


def _spellings(project: Project, failure: Failure, wrong: str) -> list[str]:
    suggested = _SUGGESTED.search(failure.message)
    known = set().union(*(_known_names(source) for source in project.sources)) - {wrong}
    like = difflib.get_close_matches(wrong, sorted(known), n=3, cutoff=0.7)
    return list(dict.fromkeys([suggested[1], *like] if suggested else like))


def _known_names(source: Source) -> set[str]:
    defined = {node.name for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}
    arguments = {node.arg for node in ast.walk(source.tree) if isinstance(node, ast.arg)}
    return defined | arguments | {node.name for node in source.functions} | used_names(source.tree)
