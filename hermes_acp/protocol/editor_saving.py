"""What became of a file that an editor has said it wrote."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

_SAVED_SECONDS = 1.0
_LOOK_SECONDS = 0.02


async def saved(
    path: Path, data: bytes, before: bytes | None, on_disk: Callable[[Path], Awaitable[bytes | None]]
) -> bytes | None:
    """What stands on the disk once the editor has saved; some save a moment after they have answered.

    Args:
        path: the file.
        data: what the editor was given.
        before: what the disk held until then, None for a file that was not there.
        on_disk: reads the file, as None when it is not there.
    """
    deadline = time.monotonic() + _SAVED_SECONDS
    while True:
        now = await on_disk(path)
        if now == data or time.monotonic() > deadline:
            return now
        if now is not None and now != before and only_blanks_differ(now, data):
            return now
        await asyncio.sleep(_LOOK_SECONDS)


def only_blanks_differ(one: bytes, other: bytes) -> bool:
    """Whether two texts are the same but for line ends, blanks at the ends of lines, and blank lines at the end."""
    return _rows(one) == _rows(other)


def _rows(data: bytes) -> list[bytes]:
    return [line.rstrip() for line in data.rstrip().splitlines()]
