"""What is known of a command line once it is judged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from hermes_acp.lazy_dataclasses import dataclass

Words = tuple[str, ...]
"""A simple command as the words that its program is given, the name first."""

Standing = Literal["reads", "reaches_out", "unproven", "unknown"]
"""What is known of a simple command: it only reads; it only reads, but elsewhere; it is a program of which only some
uses are harmless, and this one is not among them; nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command: its words, what is known of it, why it is not known to read only, and the words that it runs
    with where it does."""

    words: Words
    standing: Standing
    concern: str = ""
    hardened: Words = ()

    @property
    def is_itself(self) -> bool:
        """Whether it only reads as it was written, without words that were added."""
        return self.standing == "reads" and (self.words[0] == "cd" or self.hardened[1:] == self.words[1:])


@dataclass(frozen=True, slots=True)
class Judged:
    """A command line as the gate sees it: exactly what will run, the same as it was `written`, its parts (none: it
    could not be taken apart), and why it is not known to read only ("": it is). `walled` is why it is asked about in
    the sandbox too, in a mode in which other commands are not ("": it is not); None: there is no sandbox."""

    line: str
    written: str
    parts: tuple[Part, ...] = ()
    concern: str = ""
    walled: str | None = None

    @property
    def reading(self) -> tuple[Part, ...]:
        """The parts that only read."""
        return tuple(part for part in self.parts if part.standing == "reads")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command line would run: the folder, the session's folders, the value of PATH, and the file that the
    shell reads first (BASH_ENV), if there is one."""

    cwd: Path
    roots: tuple[Path, ...]
    path: str
    startup: str = ""


def names_git(line: str) -> bool:
    """Whether a command line names git anywhere: only such a one may change the repository's own files."""
    return re.search(r"\bgit\b", line) is not None
