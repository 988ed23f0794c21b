"""`hermes-acp trust`: what of projects may instruct the agent or be started; lists it, adds to it, takes it back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hermes_acp.agent.skills import SKILL_FILE
from hermes_acp.agent.trust import Trust, digest_at
from hermes_acp.agent.trusting import brought_texts
from hermes_acp.cli.terminal import say
from hermes_acp.cli.trusted import BRINGS, Trusted, describe, why_no_effect
from hermes_acp.errors import ConfigError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import paths
from hermes_acp.mcp.project import PROJECT_SERVERS
from hermes_acp.settings import load_settings
from hermes_acp.text import visible

_USAGE = "trust [list | add PATH | remove PATH]: PATH is a file for agents, a skill, a .mcp.json, or a project's folder"
_HELP = """What of projects may instruct the agent or be started, as you agreed to it.

  list         what you agreed to, since when, what has changed, what has no effect
  add PATH     agree to it as it is now: a file for agents, a skill, a .mcp.json,
               or all of these that a project's folder brings
  remove PATH  take it back, also for all below a folder; you are asked again
"""
_HANG = 9


def run(arguments: Sequence[str], called: str = "hermes-acp trust") -> int:
    """List, add or remove; 0 when it was done, 1 when there was nothing to do.

    Raises:
        ConfigError: the arguments are others, a setting is wrong, or the answer cannot be kept.
    """
    if {"-h", "--help"} & {*arguments}:
        sys.stdout.write(f"usage: {called} [list | add PATH | remove PATH]\n\n{_HELP}")
        return 0
    home = load_settings({}, os.environ).home
    trust = Trust(home.trust_file)
    try:
        return _run(_Book(trust, home.config), arguments)
    except OSError as error:
        raise ConfigError(f"{trust.file}: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class _Book:
    """What was agreed to, and the person's own folder."""

    trust: Trust
    home: Path | None

    def entries(self) -> list[Trusted]:
        since = self.trust.since()
        found = self.trust.trusted().items()
        return [Trusted(Path(path), digest, since.get(path, "")) for path, digest in sorted(found)]

    def tell(self, state: str, entry: Trusted) -> None:
        _say(state, str(entry.path), *describe(entry, self.home))


def _run(book: _Book, arguments: Sequence[str]) -> int:
    match list(arguments):
        case [] | ["list"]:
            return _list(book)
        case ["add", path]:
            return _add(book, _place(Path(path).absolute()))
        case ["remove", path]:
            return _remove(book, _place(Path(path).absolute()))
        case _:
            raise ConfigError(_USAGE)


def _list(book: _Book) -> int:
    if fault := book.trust.fault():
        sys.stderr.write(f"hermes-acp: warning: {visible(fault)}\n")
    entries, refused = book.entries(), book.trust.refused()
    for entry in entries:
        book.tell(entry.state, entry)
    for place in refused:
        _say("never", place, "nothing that it brings is used or asked about; `trust remove` ends that")
    if not (entries or refused):
        say(f"Nothing of any project is trusted. A project can bring {BRINGS}; `trust add PATH` agrees to it.")
    return 0


def _add(book: _Book, path: Path) -> int:
    there = [one for one in _brought(path) if os.path.lexists(one)]
    refused = {one: reason for one in there if (reason := _why_not(one, book.home))}
    found = {str(one): digest_at(one) for one in there if one not in refused}
    for one, reason in refused.items():
        _say("skipped", str(one), f"not agreed to: {reason}")
    if not there:
        sys.stderr.write(f"There is nothing to trust at {visible(str(path))}. A project can bring {BRINGS}.\n")
    if not found:
        return 1
    book.trust.remove(str(path))
    book.trust.add(found)
    for entry in book.entries():
        if str(entry.path) in found:
            book.tell("trusted", entry)
    return 0


def _why_not(path: Path, home: Path | None) -> str:
    unread = "" if digest_at(path) else "it cannot be read, or is too large"
    return why_no_effect(path, home) or unread


def _remove(book: _Book, path: Path) -> int:
    before = {str(entry.path) for entry in book.entries()} | {*book.trust.refused()}
    if not book.trust.remove(str(path)):
        sys.stderr.write(f"Nothing is known of {visible(str(path))}; `trust list` shows what is.\n")
        return 1
    for name in sorted(before - {str(entry.path) for entry in book.entries()} - {*book.trust.refused()}):
        _say("removed", name, "asked about again in the next session")
    return 0


def _place(path: Path) -> Path:
    """The path by which a session would know it: the folder with its links resolved, a file in it as it is named."""
    return paths.real(path) if path.is_dir() else paths.real(path.parent) / path.name


def _brought(path: Path) -> list[Path]:
    """What is named by a path: a file or a skill itself, or all that a project in this folder brings."""
    if not path.is_dir() or (path / SKILL_FILE).is_file():
        return [path]
    return [*(one.path for one in brought_texts((path,))), path / PROJECT_SERVERS]


def _say(state: str, path: str, *lines: str) -> None:
    say(f"{state:<8} {visible(path)}", _HANG)
    for line in lines:
        say(f"{'':<8} {line}", _HANG)
