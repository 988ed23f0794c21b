"""Two names of a folder are swapped as fast as the system can, by a process of its own.

    python -m tests.support.swapping FOLDER ONE OTHER

Runs until its input ends; then it writes how often it has swapped.
"""

from __future__ import annotations

import ctypes
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_EXCHANGE = 2
"""RENAME_EXCHANGE, see renameat2(2)."""


class Swapping:
    """A race that is on; `swaps` is how many there were, once it is over."""

    swaps = 0


@contextmanager
def swapping(folder: Path, one: str, other: str) -> Iterator[Swapping]:
    """Swap two names in a folder for as long as the block lasts."""
    argv = [sys.executable, "-m", "tests.support.swapping", str(folder), one, other]
    race = Swapping()
    root = Path(__file__).parents[2]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield race
        finally:
            said, _ = process.communicate()
            race.swaps = int(said)


def main(folder: str, one: str, other: str) -> None:
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    names = one.encode(), other.encode()
    os.write(1, b"\n")
    swaps = 0
    while not select.select([0], [], [], 0)[0]:
        for _ in range(100):
            if exchange(at, names[0], at, names[1], _EXCHANGE):
                raise OSError(ctypes.get_errno(), "the names cannot be swapped")
        swaps += 100
    os.write(1, b"%d" % swaps)


if __name__ == "__main__":
    main(*sys.argv[1:])
