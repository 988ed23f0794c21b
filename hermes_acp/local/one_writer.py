"""One writer at a time for each file: what a write checks still holds when it writes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from weakref import WeakValueDictionary


class OneWriter:
    """The locks of the files of one workspace; one that nobody holds or waits for is gone."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def of(self, path: Path) -> asyncio.Lock:
        """The lock of a file, to be held while it is checked and written."""
        return self._locks.setdefault(path, asyncio.Lock())
