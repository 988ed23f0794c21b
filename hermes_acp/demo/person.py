"""The one who answers what the agent asks: whoever sits at the terminal, or nobody."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

Option = dict[str, Any]


class Person(Protocol):
    """Chooses one of the options of a permission request; None gives no answer and ends the turn."""

    async def choose(self, options: Sequence[Option]) -> Option | None: ...


class Nobody:
    """Allows everything once, and says that it did."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    async def choose(self, options: Sequence[Option]) -> Option | None:
        option = _of_kind("allow_once", options)
        if option is not None:
            self._say(f"  → {option.get('name')} (answered by the demo: nobody was asked)\n")
        return option


class AtTerminal:
    """Asks for a number on standard input; Enter takes the first option, the end of input rejects."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    async def choose(self, options: Sequence[Option]) -> Option | None:
        while True:
            self._say(f"  → 1–{len(options)}, Enter for 1: ")
            line = await read_line(sys.stdin.fileno())
            if not line:
                return _of_kind("reject_once", options)
            answer = line.strip() or "1"
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return options[int(answer) - 1]


async def read_line(descriptor: int) -> str:
    """A line of a terminal, "" at its end. Waits in the event loop, so that it can be cancelled."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def ready() -> None:
        if not line.done():
            line.set_result(os.read(descriptor, 4096).decode("utf-8", "replace"))

    loop.add_reader(descriptor, ready)
    try:
        return await line
    finally:
        loop.remove_reader(descriptor)


def _of_kind(kind: str, options: Sequence[Option]) -> Option | None:
    return next((option for option in options if option.get("kind") == kind), None)
