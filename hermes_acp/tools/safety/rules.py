"""Which of the person's rules apply to an action: deny before ask before allow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

from hermes_acp.approval_rules import SHELLS, WRAPPERS, Rule, RuleDecision
from hermes_acp.cards import Effect
from hermes_acp.text import words
from hermes_acp.tools.safety.grammar import RESERVED, Opaque, read
from hermes_acp.tools.safety.judged import Judged, Part, Words

Rules = Iterable[Rule]

_SEPARATORS = re.compile(r"[;&|\n(){}`<>]|\$\(")
_QUOTES = re.compile(r"[\"'\\]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=.*", re.DOTALL)
_GIT_WITH_VALUE = words("-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix")
_DEEPEST = 4
_LONGEST_PREFIX = 64


class Proposed(Protocol):
    """What rules look at of a call that was made ready."""

    @property
    def effect(self) -> Effect:
        """What it can do."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The resolved paths that it touches."""

    @property
    def command(self) -> str:
        """Its command, exactly as it will run."""

    @property
    def judged(self) -> Judged | None:
        """What is known of its command."""


def forbidding(
    rules: Rules, decision: RuleDecision, tool: str, action: Proposed, roots: tuple[Path, ...]
) -> Rule | None:
    """The first rule of a severity that applies to any part of an action; for "deny" and "ask"."""
    severe = [rule for rule in rules if rule.decision == decision]
    commands = tuple(_commands(action)) if action.effect == "execute" and any(rule.prefix for rule in severe) else ()
    return next((rule for rule in severe if _touches(rule, tool, action, commands, roots)), None)


def allowing(rules: Rules, tool: str, action: Proposed, roots: tuple[Path, ...]) -> bool:
    """Whether rules allow all of an action: each command of a line, each path of an edit."""
    allowed = [rule for rule in rules if rule.decision == "allow"]
    if any(_is_it(rule, tool, action, roots) for rule in allowed):
        return True
    if action.effect == "edit" and action.paths:
        return all(any(_matches(rule.path, path, roots) for rule in allowed) for path in action.paths)
    if action.effect != "execute" or not action.judged or not action.judged.parts:
        return False
    return all(part.is_itself or _allows_part(allowed, part) for part in action.judged.parts)


def reaches(rules: Rules, path: Path) -> bool:
    """Whether the person allows edits of a path by a rule that names it from the root on."""
    return any(
        rule.decision == "allow" and os.path.isabs(rule.path) and _matches(rule.path, path, ()) for rule in rules
    )


def literal(path: str) -> str:
    """The glob that matches this path and no other."""
    return re.sub(r"([*?\\])", r"\\\1", path)


def _touches(rule: Rule, tool: str, action: Proposed, commands: tuple[Words, ...], roots: tuple[Path, ...]) -> bool:
    if rule.prefix:
        return any(_begins(command, rule.prefix) for command in commands)
    if rule.path:
        return action.effect == "edit" and any(
            _matches(rule.path.casefold(), path, roots, True) for path in action.paths
        )
    return _is_it(rule, tool, action, roots)


def _is_it(rule: Rule, tool: str, action: Proposed, roots: tuple[Path, ...]) -> bool:
    """Whether a rule names the tool, or the very command."""
    if rule.tool:
        return rule.tool == tool
    written = action.judged.written if action.judged else action.command
    named = _as_judged(rule.command) if rule.command else ""
    return bool(named) and named in (action.command, written) and rule.cwd in ("", str(roots[0]))


@cache
def _as_judged(line: str) -> str:
    try:
        return read(line).text()
    except Opaque:
        return line


def _allows_part(allowed: list[Rule], part: Part) -> bool:
    """A program of the reading kind is allowed to read elsewhere; what its options could make of it still asks."""
    if part.standing not in ("unknown", "reaches_out"):
        return False
    return any(rule.prefix and part.words[: len(rule.prefix)] == rule.prefix for rule in allowed)


def _begins(command: Words, prefix: Words) -> bool:
    if os.path.basename(command[0]) != os.path.basename(prefix[0]):
        return False
    rest = _without_git_options(command[1:]) if os.path.basename(command[0]) == "git" else command[1:]
    return rest[: len(prefix) - 1] == prefix[1:] or command[1 : len(prefix)] == prefix[1:]


def _without_git_options(arguments: Words) -> Words:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in _GIT_WITH_VALUE else 1
    return arguments[at:]


def _commands(action: Proposed) -> Iterator[Words]:
    """All commands that an action may come to, as far as they can be told: also those that a wrapper or a shell is
    given as arguments, and roughly those of a line that could not be taken apart."""
    if action.judged and action.judged.parts:
        simple = [part.words for part in action.judged.parts]
    else:
        simple = list(_roughly(action.command))
    for command in simple:
        yield from _unwrapped(command, _DEEPEST)


def _unwrapped(command: Words, depth: int) -> Iterator[Words]:
    yield command
    name = os.path.basename(command[0])
    if depth and name in WRAPPERS:
        for at in range(1, len(command)):
            if command[at] and not command[at].startswith("-"):
                yield command[at : at + _LONGEST_PREFIX]
    if depth and name in SHELLS | WRAPPERS:
        for word in command[1:]:
            for inner in _lines(word):
                yield from _unwrapped(inner, depth - 1)


def _lines(text: str) -> Iterator[Words]:
    try:
        yield from read(text).commands
    except Opaque:
        yield from _roughly(text)


def _roughly(line: str) -> Iterator[Words]:
    """What may be commands in a line of shell, quotes and meaning aside. Too many rather than too few."""
    for chunk in _SEPARATORS.split(line):
        found = [_QUOTES.sub("", word) for word in chunk.split()]
        while found and (not found[0] or found[0] in RESERVED or _ASSIGNMENT.fullmatch(found[0])):
            found.pop(0)
        if found:
            yield tuple(found)


def _matches(glob: str, path: Path, roots: tuple[Path, ...], fold: bool = False) -> bool:
    """Whether a resolved path matches a glob: an absolute one, or one that begins in the session's own folder."""
    text = str(path).casefold() if fold else str(path)
    if not glob:
        return False
    if os.path.isabs(glob):
        return _pattern(glob).fullmatch(text) is not None
    root = (str(roots[0]).casefold() if fold else str(roots[0])).rstrip("/") + "/" if roots else ""
    return text.startswith(root) and _pattern(glob).fullmatch(text[len(root) :]) is not None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """`**` stands for any folders, `*` and `?` for anything within a name, `[!a]` as in a shell is not known; a
    backslash takes a character as it is."""
    pieces = re.findall(r"\*\*/|\*\*|\*|\?|\\.|.", glob.removeprefix("./"), re.DOTALL)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(piece) or re.escape(piece[-1]) for piece in pieces), re.DOTALL)
