"""The wider grammar of the mode `auto`: redirections, globs, quoted here-documents and `&` beside the strict one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import visible
from hermes_acp.tools.safety.grammar import (
    BLANKS,
    DOUBLE,
    ESCAPED,
    GAP,
    LONGEST,
    MOST_COMMANDS,
    RESERVED,
    Opaque,
    Scanner,
    quote,
)

_PIECE = re.compile(r"(?P<plain>[A-Za-z0-9_./:,=@%+\-^]+|\{\}|(?<=[A-Za-z0-9_])~)|'(?P<single>[^']*)'|(?P<glob>[*?])")
_JOINT = re.compile(r"&&|\|\||\||;|&(?!>)|\n")
_COPY = re.compile(r"[12]>&[12](?=[ \t\n;&|]|$)")
_REDIRECTION = re.compile(r"(?:[012]?(?:>>|>|<(?![<>(&]))|&>>?)(?![>&(|])")
_HERE = re.compile(r"<<(-?)(['\"])([A-Za-z_][A-Za-z0-9_]*)\2")
_NAME = re.compile(r"[A-Za-z0-9_./+\-\[][A-Za-z0-9_./+\-@:,]*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the shell in pieces; a piece that is a glob is "*" or "?"."""

    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The word as it was meant, globs unexpanded."""
        return "".join(text for text, _ in self.pieces)

    @property
    def is_glob(self) -> bool:
        return any(glob for _, glob in self.pieces)

    def written(self) -> str:
        """The word as text for a shell. A file whose name is an option becomes none by a glob."""
        if not self.is_glob:
            return self.text if self.text == "{}" else quote(self.text)
        text = "".join(text if glob else quote(text) for text, glob in self.pieces)
        return f"./{text}" if self.pieces[0][1] else text


@dataclass(frozen=True, slots=True)
class Redirection:
    """An operator and its file; one that only joins two outputs has none."""

    operator: str
    target: Word | None = None

    def written(self) -> str:
        if self.target is None:
            return self.operator
        if self.operator.startswith("&"):
            return f"{self.operator[1:]} {self.target.written()} 2>&1"
        return f"{self.operator} {self.target.written()}"


@dataclass(frozen=True, slots=True)
class WideCommand:
    """A simple command with where its input comes from and its output goes."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether no word of it depends on what files there are."""
        return not any(word.is_glob for word in self.words)

    def with_words(self, texts: Iterable[str]) -> WideCommand:
        """The command with these words in place of its own."""
        return replace(self, words=tuple(Word(((text, False),)) for text in texts))

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


@dataclass(slots=True)
class Line:
    """Commands, and what stands behind each ("" behind the last)."""

    commands: list[WideCommand] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    document: str = ""

    def text(self) -> str:
        """The line of shell that gives each command exactly these words."""
        parts: list[str] = []
        for command, joint in zip(self.commands, self.joints, strict=True):
            parts += [*(word.written() for word in command.words), *(each.written() for each in command.redirections)]
            parts += [joint] if joint else []
        return " ".join(parts) + self.document


def read_wide(line: str) -> Line:
    """The commands of a line.

    Raises:
        Opaque: it holds more than this grammar knows.
    """
    if len(line) > LONGEST:
        raise Opaque(f"it is longer than {LONGEST} characters")
    if hidden := next((char for char in line if visible(char) != char), ""):
        raise Opaque(f"it holds a character that is not seen (U+{ord(hidden):04X})")
    if not line.isascii():
        raise Opaque("it holds letters that may look like others")
    line, document, body = _without_document(line.strip(" \t\n"))
    found = _Reader(line).read()
    found.document = body
    if document and not any(
        each.operator.startswith("<<") for command in found.commands for each in command.redirections
    ):
        raise Opaque("it has a here-document")
    return found


def _without_document(line: str) -> tuple[str, str, str]:
    """The line whose here-document, if it has one at its end, is taken out; its mark, and the document as written."""
    here = _HERE.search(line)
    if here is None:
        return line, "", ""
    first, newline, rest = line.partition("\n")
    lines = rest.split("\n")
    if not newline or here.end() > len(first) or here[1] or _HERE.search(first, here.end()) or lines[-1] != here[3]:
        raise Opaque("its here-document is not at its end")
    if here[3] in lines[:-1]:
        raise Opaque("its here-document ends twice")
    return first, here[3], "\n" + rest


@dataclass(slots=True)
class _Reader(Scanner):
    def read(self) -> Line:
        found = Line()
        while True:
            found.commands.append(self._command())
            if len(found.commands) > MOST_COMMANDS:
                raise Opaque(f"it has more than {MOST_COMMANDS} commands")
            if self.at == len(self.line):
                found.joints.append("")
                return found
            joint = self.take(_JOINT)
            if joint is None:
                raise Opaque(f"of {self.line[self.at]!r} in it")
            self.take(GAP)
            found.joints.append(";" if joint[0] == "\n" else joint[0])
            if self.at == len(self.line) and joint[0] in ";&":
                return found

    def _command(self) -> WideCommand:
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            self.take(BLANKS)
            if redirection := self._redirection():
                redirections.append(redirection)
            elif word := self._word():
                words.append(word)
            else:
                break
        if not words:
            raise Opaque("there is no command where one should be")
        first = words[0]
        if first.is_glob or first.text in RESERVED or not _NAME.fullmatch(first.text):
            raise Opaque(f"{first.text!r} is no name of a program")
        return WideCommand(tuple(words), tuple(redirections))

    def _redirection(self) -> Redirection | None:
        if found := self.take(_COPY):
            return Redirection(found[0])
        if found := self.take(_HERE):
            return Redirection(found[0])
        found = self.take(_REDIRECTION)
        if found is None:
            return None
        self.take(BLANKS)
        word = self._word()
        if word is None or word.is_glob:
            raise Opaque("it is not clear where its output goes")
        return Redirection(found[0], word)

    def _word(self) -> Word | None:
        pieces: list[tuple[str, bool]] = []
        while (piece := self._piece()) is not None:
            pieces.append(piece)
        return Word(tuple(pieces)) if pieces else None

    def _piece(self) -> tuple[str, bool] | None:
        if found := self.take(DOUBLE):
            return ESCAPED.sub(r"\1", found[1]), False
        if found := self.take(_PIECE):
            return found[found.lastgroup or ""], found.lastgroup == "glob"
        return None
