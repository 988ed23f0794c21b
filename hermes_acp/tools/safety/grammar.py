"""The strict grammar of shell command lines: what it reads it can write again, word for word; the rest is opaque."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, cast

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import visible, words
from hermes_acp.tools.safety.judged import Words

Joint = Literal["&&", "||", ";", "|"]

LONGEST = 16_000
"""Characters of the longest line that is read."""

MOST_COMMANDS = 256
"""So many simple commands of one line are read."""

BLANKS = re.compile(r"[ \t]+")
GAP = re.compile(r"[ \t\n]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:,=@%+\-]+|\^|(?<=[A-Za-z0-9_])~")
_SINGLE = re.compile(r"'([^']*)'")
DOUBLE = re.compile(r'"((?:[^"\\$`]|\\[^\n])*)"')
ESCAPED = re.compile(r'\\(["\\$`])')
_JOINT = re.compile(r"&&|\|\||\||;|\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:,@%+\-][A-Za-z0-9_./:,=@%+\-]*")

RESERVED = words("if then elif else fi for while until do done case esac in select function time coproc { } ! [[ ]]")
"""Words that steer the shell where a command may stand."""


class Opaque(Exception):
    """The line holds something that the grammar does not know; the text says what."""


@dataclass(frozen=True, slots=True)
class CommandList:
    """Simple commands, each as the words it is given, and what stands between them."""

    commands: tuple[Words, ...]
    joints: tuple[Joint, ...]

    def text(self) -> str:
        """The one line of shell that gives each command exactly these words."""
        parts = [quoted(self.commands[0])]
        for joint, command in zip(self.joints, self.commands[1:], strict=True):
            parts += ["; " if joint == ";" else f" {joint} ", quoted(command)]
        return "".join(parts)


def read(line: str) -> CommandList:
    """The commands of a line: plain words, simple quotes, `&&`, `||`, `;`, `|` and newlines.

    Raises:
        Opaque: there is anything else in it.
    """
    if len(line) > LONGEST:
        raise Opaque(f"it is longer than {LONGEST} characters")
    if hidden := next((char for char in line if visible(char) != char), ""):
        raise Opaque(f"it holds a character that is not seen (U+{ord(hidden):04X})")
    return _Reader(line.strip(" \t\n")).read()


def quoted(command: Words) -> str:
    """A simple command as text; what could mean anything but itself is put into single quotes."""
    first, *others = command
    plain = _NEEDS_NO_QUOTES.fullmatch(first) and not _ASSIGNMENT.match(first) and first not in RESERVED
    return " ".join([first if plain else _in_quotes(first), *map(quote, others)])


def quote(word: str) -> str:
    """One word, not the first of a command, as text."""
    return word if _NEEDS_NO_QUOTES.fullmatch(word) else _in_quotes(word)


def _in_quotes(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


@dataclass(slots=True)
class Scanner:
    """A line, and how far it has been read."""

    line: str
    at: int = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What matches here, which is then read; None when nothing does."""
        found = pattern.match(self.line, self.at)
        if found:
            self.at = found.end()
        return found


@dataclass(slots=True)
class _Reader(Scanner):
    def read(self) -> CommandList:
        commands: list[Words] = []
        joints: list[Joint] = []
        while True:
            commands.append(self._command())
            if len(commands) > MOST_COMMANDS:
                raise Opaque(f"it has more than {MOST_COMMANDS} commands")
            if self.at == len(self.line):
                return CommandList(tuple(commands), tuple(joints))
            joint = self._joint()
            if self.at == len(self.line) and joint == ";":
                return CommandList(tuple(commands), tuple(joints))
            joints.append(joint)

    def _command(self) -> Words:
        found: list[str] = []
        while True:
            self.take(BLANKS)
            start = self.at
            word = self._word()
            if word is None:
                break
            if not found:
                _check_first(self.line[start : self.at], word)
            found.append(word)
        if not found:
            raise Opaque(self._reason())
        return tuple(found)

    def _word(self) -> str | None:
        pieces: list[str] = []
        while (piece := self._piece()) is not None:
            pieces.append(piece)
        return "".join(pieces) if pieces else None

    def _piece(self) -> str | None:
        if plain := self.take(_PLAIN):
            return plain[0]
        if single := self.take(_SINGLE):
            return _seen(single[1])
        if double := self.take(DOUBLE):
            return _seen(ESCAPED.sub(r"\1", double[1]))
        return None

    def _joint(self) -> Joint:
        found = self.take(_JOINT)
        if not found:
            raise Opaque(self._reason())
        self.take(GAP)
        return ";" if found[0] == "\n" else cast(Joint, found[0])

    def _reason(self) -> str:
        rest = self.line[self.at :]
        return f"of {rest[0]!r} in it" if rest else "it ends where a command should follow"


def _check_first(written: str, name: str) -> None:
    """What a command begins with must be nothing but the name of a program, for every shell."""
    if written in RESERVED or _ASSIGNMENT.match(written):
        raise Opaque(f"of {written!r} in it")
    if not name or name.startswith("%") or not name.isascii():
        raise Opaque(f"{name!r} is no name of a program")


def _seen(text: str) -> str:
    """The text between quotes, if each character looks like what it is."""
    for char in text:
        if char.isascii() or (char.isprintable() and unicodedata.normalize("NFKC", char) == char):
            continue
        raise Opaque(f"it holds a character that looks like another (U+{ord(char):04X})")
    return text
