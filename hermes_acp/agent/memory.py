"""The agent's own notes across sessions: two small files of entries that the person can read and change."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from hermes_acp.agent.prompt.screening import screen
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import files, writing
from hermes_acp.local.locking import one_at_a_time
from hermes_acp.text import clean, plain, shorten

MEMORY_FILE, MEMORY_CHARACTERS = "MEMORY.md", 2_200
USER_FILE, USER_CHARACTERS = "USER.md", 1_375

SEPARATOR = "\n§\n"
_SEPARATOR_LINE = re.compile(r"^[ \t]*§[ \t]*$", re.MULTILINE)
_PATIENCE = 5.0
_LISTED = 6_000
_NAMED = 60

Entries = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a notebook: the entry that went, the entry that came ("" for none), and what it holds now."""

    old: str
    new: str
    entries: Entries


@dataclass(frozen=True, slots=True)
class Notebook:
    """A file of entries, separated by lines with "§"; together they have at most `limit` characters.

    Every method blocks, and raises `ToolError` when the file cannot be read or written. Changes are made under a
    lock, on what the file holds at that moment, and all at once.
    """

    path: Path
    limit: int

    def entries(self) -> Entries:
        """What is written in it; nothing when there is no file."""
        return _split(_decoded(self.path, _content(self.path)))

    def add(self, text: str) -> Change:
        """Write an entry down; one that is there already is left as it is."""
        entry = _entry(text)
        return self._change(lambda entries: _Edit("", entry, entries if entry in entries else (*entries, entry)))

    def replace(self, part: str, text: str) -> Change:
        """Put an entry in the place of the only one that holds `part`."""
        entry = _entry(text)

        def edit(entries: Entries) -> _Edit:
            old = _only(entries, part)
            rest = [each for each in entries if each != entry or each == old]
            return _Edit(old, entry, tuple(entry if each == old else each for each in rest))

        return self._change(edit)

    def remove(self, part: str) -> Change:
        """Take out the only entry that holds `part`."""

        def edit(entries: Entries) -> _Edit:
            old = _only(entries, part)
            return _Edit(old, "", tuple(each for each in entries if each != old))

        return self._change(edit)

    def _change(self, edit: Callable[[Entries], _Edit]) -> Change:
        folder = self.path.parent
        with files.explained(self.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with one_at_a_time(folder, _PATIENCE):
                return self._apply(edit)

    def _apply(self, edit: Callable[[Entries], _Edit]) -> Change:
        before = _content(self.path)
        entries = _split(_decoded(self.path, before))
        done = edit(entries)
        if done.entries != entries:
            self._check_size(entries, done.entries)
            writing.write(Path(os.path.realpath(self.path)), SEPARATOR.join(done.entries).encode(), before)
        return Change(done.old, done.new, done.entries)

    def _check_size(self, before: Entries, after: Entries) -> None:
        size = size_of(after)
        if size <= self.limit or size < size_of(before):
            return
        raise ToolError(
            f"{self.path.name} would hold {size:,} characters; its limit is {self.limit:,}. Nothing was changed. "
            "Remove or shorten entries first. They are:\n" + listed(before)
        )


@dataclass(frozen=True, slots=True)
class _Edit:
    old: str
    new: str
    entries: Entries


def memory_of(home: Path) -> Notebook:
    """The notes on projects, tools and what was learned."""
    return Notebook(home / MEMORY_FILE, MEMORY_CHARACTERS)


def profile_of(home: Path) -> Notebook:
    """The notes on the person."""
    return Notebook(home / USER_FILE, USER_CHARACTERS)


def size_of(entries: Entries) -> int:
    """The characters that the entries take, separators included."""
    return len(SEPARATOR.join(entries))


def listed(entries: Entries) -> str:
    """The entries as a list; of very many the first ones."""
    return shorten("\n".join(f"- {entry}" for entry in entries), _LISTED) or "(none)"


def _entry(text: str) -> str:
    """The text as it is kept.

    Raises:
        ToolError: it cannot be an entry: it is blank, too long to be read, split by the separator, or tries to
            steer the agent.
    """
    screened = screen(plain(text))
    entry = screened.text.strip()
    if not entry:
        raise ToolError("The entry is blank: give it as content.")
    if len(entry) > MEMORY_CHARACTERS:
        raise ToolError(f"The entry has {len(entry):,} characters; write down the fact in one or two sentences.")
    if _SEPARATOR_LINE.search(entry):
        raise ToolError("A line with nothing but § separates entries; leave it out, or add two entries.")
    if screened.found:
        reasons = ", ".join(screened.found)
        raise ToolError(f"Not kept: the entry {reasons}. Keep facts, in your own words, not instructions of others.")
    return entry


def _only(entries: Entries, part: str) -> str:
    wanted = clean(part).strip()
    if not wanted:
        raise ToolError("old_text is blank: give a part of the entry that no other one has.")
    found = [entry for entry in entries if wanted in entry]
    if len(found) == 1 or wanted in found:
        return wanted if wanted in found else found[0]
    if found:
        raise ToolError(f"{len(found)} entries hold {shorten(wanted, _NAMED)!r}; give more of it:\n{listed((*found,))}")
    raise ToolError(f"No entry holds {shorten(wanted, _NAMED)!r}. The entries are:\n{listed(entries)}")


def _content(path: Path) -> bytes | None:
    real = Path(os.path.realpath(path))
    return files.read(real) if files.exists(real) else None


def _decoded(path: Path, data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError(f"{path.name} is not UTF-8 any more; it is left as it is. Tell the user.") from error


def _split(text: str) -> Entries:
    parts = _SEPARATOR_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
