"""Completes what is typed: slash commands at the beginning, and files after an @."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hermes_acp.chat.drawing import printable
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import visible

MOST_FILES = 200

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]*)|([^\s"]*))$')


@dataclass(frozen=True, slots=True)
class Offer:
    """A command that can be completed to."""

    name: str
    description: str


class Typing(Completer):
    """Completes in a session whose folder is `folder()`; `offers()` are the commands there are now."""

    def __init__(self, offers: Callable[[], Sequence[Offer]], folder: Callable[[], Path]) -> None:
        self._offers = offers
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and not re.search(r"\s", before):
            return self._commands(before)
        if found := _MENTION.search(before):
            return self._files(found[1] if found[1] is not None else found[2], len(found[0]))
        return ()

    def _commands(self, typed: str) -> Iterator[Completion]:
        for offer in self._offers():
            name = f"/{offer.name}"
            if name.startswith(typed):
                yield Completion(name, -len(typed), display_meta=printable(offer.description))

    def _files(self, typed: str, length: int) -> Iterator[Completion]:
        for path in matching_files(self._folder(), typed):
            # Of a folder one goes on to what is in it.
            end = "" if path.endswith("/") else '"'
            mention = f'@"{path}{end}' if re.search(r"\s", path) else f"@{path}"
            yield Completion(mention, -length, display=visible(path))


def matching_files(folder: Path, typed: str) -> list[str]:
    """The names below a folder that go on from what is typed, as they are written; folders end with a slash."""
    parent, _, begun = typed.rpartition("/")
    place = folder / f"{parent}/" if parent or typed.startswith("/") else folder
    try:
        with os.scandir(place) as entries:
            names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries]
    except (OSError, ValueError):
        return []
    hidden = begun.startswith(".")
    found = sorted(name for name in names if name.lower().startswith(begun.lower()) and (hidden or name[0] != "."))
    return [typed[: len(typed) - len(begun)] + name for name in found[:MOST_FILES] if _writable(name)]


def _writable(name: str) -> bool:
    """Whether a name can be typed: no line end, quote or broken character."""
    return name.isprintable() and '"' not in name
