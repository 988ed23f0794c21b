"""A folder that one process at a time works in."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_at_a_time(folder: Path, patience: float) -> Iterator[None]:
    """Hold the folder's lock, against other threads too; after `patience` seconds go on without it.

    Raises:
        OSError: there is no such folder.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _lock(handle, time.monotonic() + patience)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, deadline: float) -> None:
    while time.monotonic() < deadline:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            return None  # A file system without locks: the race is left open.
    return None
