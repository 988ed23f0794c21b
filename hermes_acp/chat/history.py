"""What was typed before, in a file that only its owner can read."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from prompt_toolkit.application import get_app
from prompt_toolkit.history import History

from hermes_acp.text import clean

MOST_ENTRIES = 1_000
MOST_BYTES = 1_000_000

log = logging.getLogger(__name__)


class TypedHistory(History):
    """The inputs of all chats, one JSON text a line; with None, or a file that cannot be used, of this one alone."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path

    async def load(self) -> AsyncGenerator[str, None]:
        """The inputs, the latest first. A search may have been drawn without them, so it is drawn again."""
        async for text in super().load():
            yield text
        get_app().invalidate()

    def load_history_strings(self) -> Iterable[str]:
        """The newest inputs, the latest first."""
        try:
            lines = _end_of(self._path) if self._path else []
        except OSError:
            return []
        return [text for text in map(_text, reversed(lines)) if text][:MOST_ENTRIES]

    def store_string(self, string: str) -> None:
        if self._path is None:
            return
        try:
            _append(self._path, json.dumps(clean(string), ensure_ascii=False) + "\n")
        except OSError as error:
            log.info("The input is not kept: %s", error)


def _append(path: Path, line: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(handle, 0o600)
        size = os.fstat(handle).st_size
        if size > 2 * MOST_BYTES:
            kept = os.pread(handle, MOST_BYTES, size - MOST_BYTES).partition(b"\n")[2]
            os.ftruncate(handle, 0)
            os.write(handle, kept)
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def _end_of(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        return file.read().splitlines()


def _text(line: bytes) -> str:
    try:
        text = json.loads(line)
    except ValueError:
        return ""
    return text if isinstance(text, str) else ""
