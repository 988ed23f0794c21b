"""A terminal that can only write one line after the other: nothing moves, and answers end with Enter."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from hermes_acp.chat.drawing import WIDEST, Pen
from hermes_acp.chat.surface import Doings
from hermes_acp.text import clean

_MARK = "> "


class PlainScreen:
    """A terminal without a cursor to move, such as a shell inside an editor."""

    def __init__(self, doings: Doings) -> None:
        self._doings = doings
        self._over = asyncio.Event()
        self._output: Output | None = None
        self._waiting: list[str] = []
        self._asked: asyncio.Future[str | None] | None = None
        self._read = b""

    @property
    def pen(self) -> Pen:
        columns = self._output.get_size().columns if self._output else 80
        return Pen(max(min(columns, WIDEST), 10), colour=False)

    async def run(self, input: Input, output: Output) -> None:
        self._output = output
        for text in self._waiting:
            self._put(text)
        self._put(f"\n{_MARK}")
        loop = asyncio.get_running_loop()
        loop.add_reader(input.fileno(), self._take, input.fileno())
        try:
            await self._over.wait()
        finally:
            loop.remove_reader(input.fileno())

    def close(self) -> None:
        self._over.set()

    def write(self, text: str) -> None:
        if self._output is None:
            self._waiting.append(text)
        else:
            self._put(text)

    def refresh(self) -> None:
        """Nothing moves."""

    def clear_input(self) -> None:
        """The line belongs to the terminal, which empties it itself."""

    def give_up(self) -> bool:
        return self._answer(None)

    async def ask_key(self, prompt: str, keys: Mapping[str, str]) -> str | None:
        while True:
            said = await self.ask_line(prompt)
            if said is None:
                return None
            if value := keys.get(said.strip().lower()[:1]):
                return value

    async def ask_line(self, prompt: str) -> str | None:
        self._put(f"\n{prompt}")
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
        for line in lines:
            self._take_line(clean(line.decode("utf-8", "replace")))

    def _take_line(self, line: str) -> None:
        if not line.strip():
            self._put(_MARK)
        elif not self._answer(line):
            self._doings.submit(line)

    def _put(self, text: str) -> None:
        assert self._output is not None
        try:
            self._output.write_raw(text)
            self._output.flush()
        except OSError:
            self._doings.leave()
