"""A terminal that can only write one line after the other: nothing moves, and answers end with Enter."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from hermes_acp.chat.drawing import WIDEST, Pen
from hermes_acp.chat.surface import GUARD_SECONDS, Doings
from hermes_acp.text import clean

_MARK = "> "

_GATHERING = 0.05
"""Seconds in which lines that come together are one: the paste of several is one message."""


class PlainScreen:
    """A terminal without a cursor to move, such as a shell inside an editor. `busy`: whether something runs or waits,
    so that there is no sense in a prompt."""

    def __init__(self, doings: Doings, busy: Callable[[], bool]) -> None:
        self._doings = doings
        self._busy = busy
        self._over = asyncio.Event()
        self._output: Output | None = None
        self._waiting: list[str] = []
        self._asked: asyncio.Future[str | None] | None = None
        self._read = b""
        self._lines: list[str] = []
        self._offering: asyncio.TimerHandle | None = None
        self._at_mark = False
        self.guard = GUARD_SECONDS

    @property
    def pen(self) -> Pen:
        columns = (self._output.get_size() if self._output else shutil.get_terminal_size()).columns
        return Pen(max(min(columns, WIDEST), 10), colour=False)

    @property
    def keeps_typing(self) -> bool:
        return True

    async def run(self, input: Input, output: Output) -> None:
        self._output = output
        for text in self._waiting:
            self._put(text)
        self.refresh()
        loop = asyncio.get_running_loop()
        loop.add_reader(input.fileno(), self._take, input.fileno())
        try:
            await self._over.wait()
        finally:
            loop.remove_reader(input.fileno())
            self._put("\n")

    def close(self) -> None:
        self._over.set()

    def write(self, text: str) -> None:
        if self._output is None:
            self._waiting.append(text)
            return
        self._put(f"\n{text}" if self._at_mark else text)
        self._at_mark = False
        self.refresh()

    def refresh(self) -> None:
        """Nothing moves, but once nothing runs there is a prompt."""
        if self._output is not None and self._offering is None:
            self._offering = asyncio.get_running_loop().call_later(_GATHERING, self._offer)

    def clear_input(self) -> None:
        """The line belongs to the terminal, which empties it itself."""

    def give_up(self) -> bool:
        return self._answer(None)

    async def ask_key(self, prompt: str, keys: Mapping[str, str]) -> str | None:
        """The value of a key, which is typed alone in a line, or in its word: any line that begins so may be a message
        that was typed before the question came."""
        words = {**keys, **{value: value for value in keys.values()}, "yes": keys.get("y", "")}
        while True:
            since = time.monotonic()
            said = await self.ask_line(prompt)
            if said is None:
                return None
            if time.monotonic() - since >= self.guard and (value := words.get(said.strip().lower())):
                return value

    async def ask_line(self, prompt: str) -> str | None:
        self._put(f"\n{prompt}")
        self._at_mark = False
        self._asked = asyncio.get_running_loop().create_future()
        try:
            return await self._asked
        finally:
            self._asked = None

    def _answer(self, value: str | None) -> bool:
        if self._asked is None or self._asked.done():
            return False
        self._asked.set_result(value)
        return True

    def _offer(self) -> None:
        self._offering = None
        if self._at_mark or self._asked is not None or self._busy():
            return
        self._put(f"\n{_MARK}")
        self._at_mark = True

    def _take(self, file: int) -> None:
        """Take in what has been typed: the terminal gives whole lines, and nothing at the end."""
        try:
            data = os.read(file, 65_536)
        except OSError:
            data = b""
        if not data:
            self._doings.leave()
            return
        *lines, self._read = (self._read + data).split(b"\n")
        if lines and not self._lines:
            asyncio.get_running_loop().call_later(_GATHERING, self._take_lines)
        self._lines += [clean(line.decode("utf-8", "replace")) for line in lines]

    def _take_lines(self) -> None:
        text, self._lines = "\n".join(self._lines), []
        self._at_mark = False
        if not text.strip():
            self._put(_MARK)
            self._at_mark = True
        elif not self._answer(text):
            self._doings.submit(text)

    def _put(self, text: str) -> None:
        assert self._output is not None
        try:
            self._output.write_raw(text)
            self._output.flush()
        except OSError:
            self._doings.leave()
