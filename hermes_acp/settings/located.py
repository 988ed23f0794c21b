"""Where in a settings file the value stands that was refused: people look for it there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_acp.errors import ConfigError
from hermes_acp.settings.files import read_small

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*["']?([\w.-]+)["']?\s*=""")
_PLACE = re.compile(r"([\w.-]+)(?: \(entry (\d+)\))?(?:\.([\w.-]+))?: (?:rule (\d+): |([\w.-]+): )?")
_NAMED = re.compile(r"unknown key ([\w-]+)")


@contextmanager
def located(path: Path | None) -> Iterator[None]:
    """Let a refusal of what stands in this file name the line too: `FILE:LINE: KEY: REASON`.

    Raises:
        ConfigError: as the block does, with the line where it can be told.
    """
    try:
        yield
    except ConfigError as error:
        begins = f"{path}: "
        if path is None or not str(error).startswith(begins):
            raise
        reason = str(error).removeprefix(begins)
        line = _line_of(reason, _text(path))
        raise ConfigError(f"{path}:{line}: {reason}" if line else str(error)) from None


def _text(path: Path) -> str:
    try:
        return read_small(path).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _line_of(reason: str, text: str) -> int:
    """The line that a refusal is about, 0 when that cannot be told."""
    place = _PLACE.match(reason)
    if place is None:
        return 0
    key, entry, leaf, rule, inner = place.groups()
    named = _NAMED.search(reason)
    leaf = leaf or (named[1] if rule and named else "") or inner or ""
    paths = [f"{key}.{leaf}".rstrip("."), key]
    found = _places(text)
    for path in paths:
        lines = [line for line, name in found if name == path]
        if lines:
            number = int(entry or rule or 1)
            return lines[min(number, len(lines)) - 1] if path == key else _within(lines, found, key, number)
    return 0


def _within(lines: list[int], found: list[tuple[int, str]], table: str, number: int) -> int:
    """Of lines with one name the first that stands in the table of this number."""
    headers = [line for line, name in found if name == table]
    start = headers[number - 1] if 0 < number <= len(headers) else 0
    return next((line for line in lines if line >= start), lines[0])


def _places(text: str) -> list[tuple[int, str]]:
    """The headers and keys of a file by their dotted names, with their lines."""
    found, table = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = header[1].replace('"', "").replace("'", "")
            found.append((number, table))
        elif key := _KEY.match(line):
            found.append((number, f"{table}.{key[1]}".lstrip(".")))
    return found
