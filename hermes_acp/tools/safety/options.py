"""Which options of a program are known to do nothing but read, and the sorting of its arguments by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Literal

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.tools.safety.reach import Reach, Unproven

Taking = Literal["nothing", "text", "path", "attached"]
"""What an option takes: nothing, a text, the path of a file to be read, or a text only if it is attached."""

_MARKS: Mapping[str, Taking] = {":": "text", "@": "path", "?": "attached"}
_NUMBER = re.compile(r"-[0-9]+")


@dataclass(slots=True)
class Sorted:
    """Arguments taken apart: the words that are options, with their values, and the operands."""

    options: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)

    def note(self, name: str, taking: Taking, value: str) -> None:
        """Keep the name of an option, and its value where that is a path."""
        self.names.add(name)
        if taking == "path":
            self.paths.append(value)


@dataclass(frozen=True, slots=True)
class Options:
    """The options that may be used. `numbers`: whether -20 is one."""

    known: Mapping[str, Taking]
    numbers: bool = False

    def sort(self, arguments: tuple[str, ...]) -> Sorted:
        """Take arguments apart, as GNU and BSD programs do.

        Raises:
            Unproven: an option is not among the known ones, or not written in full.
        """
        found = Sorted()
        words = list(reversed(arguments))
        while words:
            word = words.pop()
            if word == "--":
                found.operands += reversed(words)
                break
            if word.startswith("--"):
                self._long(word, words, found)
            elif word.startswith("-") and word != "-":
                self._short(word, words, found)
            else:
                found.operands.append(word)
        return found

    def _long(self, word: str, rest: list[str], found: Sorted) -> None:
        name, equals, value = word.partition("=")
        taking = self._taking(name)
        found.options.append(word)
        if equals and taking == "nothing":
            raise Unproven(f"the option {name} takes no value")
        if not equals and taking in ("text", "path"):
            value = _next(name, rest)
            found.options.append(value)
        found.note(name, taking, value)

    def _short(self, word: str, rest: list[str], found: Sorted) -> None:
        found.options.append(word)
        if self.numbers and _NUMBER.fullmatch(word):
            return
        for at, letter in enumerate(word[1:], 2):
            name = f"-{letter}"
            taking = self._taking(name)
            value = word[at:]
            if taking in ("text", "path") and not value:
                value = _next(name, rest)
                found.options.append(value)
            if value.startswith("=") and taking == "path":
                raise Unproven(f"programs differ in what {name}= means")
            found.note(name, taking, value)
            if taking != "nothing":
                return

    def _taking(self, name: str) -> Taking:
        if name not in self.known:
            raise Unproven(f"the option {name} is not known to be harmless")
        return self.known[name]


def _next(name: str, rest: list[str]) -> str:
    """The word after an option; one that looks like an option could be taken for one."""
    if not rest or (rest[-1].startswith("-") and not _NUMBER.fullmatch(rest[-1])):
        raise Unproven(f"the option {name} is not followed by a value")
    return rest.pop()


def options(text: str) -> Options:
    """Options from a short notation: `-abc` are three, `-n:` takes a text, `-f@` a path, `-u?` an attached text;
    the same marks hold for `--long`; `-#` stands for numbers."""
    known: dict[str, Taking] = {}
    words = text.split()
    for word in words:
        taking = _MARKS.get(word[-1], "nothing")
        bare = word if taking == "nothing" else word[:-1]
        names = [bare] if bare.startswith("--") else [f"-{letter}" for letter in bare[1:]]
        known |= dict.fromkeys(names, taking)
    return Options(known, "-#" in words)


Operands = Callable[[Sorted, Reach], None]
"""Checks the operands of a program."""


def paths(found: Sorted, reach: Reach) -> None:
    """Every operand is the path of something to be read."""
    for path in found.operands:
        reach.check(path)


def texts(found: Sorted, reach: Reach) -> None:
    """Operands are texts and never opened."""


def none(found: Sorted, reach: Reach) -> None:
    """There are no operands."""
    if found.operands:
        raise Unproven("it is given more than options")


def pattern_and_paths(found: Sorted, reach: Reach) -> None:
    """A pattern, unless an option gave it, and then paths."""
    given = found.names & {"-e", "--regexp", "-f", "--file", "--files", "--type-list"}
    for path in found.operands[0 if given else 1 :]:
        reach.check(path)


def at_most(count: int) -> Operands:
    """So many paths and no more: a further operand would be written to, or mean something else."""

    def check(found: Sorted, reach: Reach) -> None:
        if len(found.operands) > count:
            raise Unproven(f"it is given more than {count} file{'s' if count > 1 else ''}")
        paths(found, reach)

    return check


def files_only(found: Sorted, reach: Reach) -> None:
    """Every operand is the path of something that is no folder: of a folder all files would be read."""
    for path in found.operands:
        if reach.check(path).is_dir():
            raise Unproven(f"{path} is a folder")
