"""What a command writes, kept readable and small: decoded, without escape codes, the middle left out."""

from __future__ import annotations

import asyncio
import codecs
import io
import re
from collections.abc import Callable

from hermes_acp.text import plain

_HOLD = 65_536
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\n]*(?:\x1b)?)?\Z")


class PlainDecoder:
    """Bytes in pieces to plain text: UTF-8 with U+FFFD for what is not, no escape codes, line feeds only.

    A character, an escape code or a CRLF that is split between two pieces is put together first. An
    unfinished escape code is held back up to 64 Ki characters.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines = io.IncrementalNewlineDecoder(None, translate=True)
        self._held = ""

    def feed(self, data: bytes) -> str:
        """The plain text that is certain now."""
        text = self._held + self._decoder.decode(data)
        cut = _UNFINISHED.search(text, max(len(text) - _HOLD, 0))
        end = cut.start() if cut else len(text)
        self._held = text[end:]
        # Line ends come last: what is dropped may stand between a CR and its LF.
        return self._lines.decode(plain(text[:end]))

    def finish(self) -> str:
        """What was held back."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return self._lines.decode(plain(text), final=True)


class Excerpt:
    """The first `head` and the last `tail` characters of a text of any length, in bounded memory."""

    def __init__(self, head: int = 16_000, tail: int = 16_000) -> None:
        self._head_size, self._tail_size = head, tail
        self._head = ""
        self._tail = ""
        self._dropped = 0

    def feed(self, text: str) -> None:
        """Add a piece to the end."""
        room = self._head_size - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * self._tail_size:
            self._trim()

    def text(self) -> str:
        """The text, with a line in place of what was left out."""
        self._trim()
        if not self._dropped:
            return self._head + self._tail
        return f"{self._head}\n[… {self._dropped} characters left out …]\n{self._tail}"

    def _trim(self) -> None:
        over = len(self._tail) - self._tail_size
        if over > 0:
            self._tail = self._tail[over:]
            self._dropped += over


class Recording:
    """The readable head and tail of bytes that arrive in pieces, in bounded memory."""

    def __init__(self) -> None:
        self._decoder = PlainDecoder()
        self._excerpt = Excerpt()

    def feed(self, data: bytes) -> None:
        """Add a piece to the end."""
        self._excerpt.feed(self._decoder.feed(data))

    def finish(self) -> None:
        """There will be no more; what was held back is part of the text."""
        self._excerpt.feed(self._decoder.finish())

    def text(self) -> str:
        """The text so far, with a line in place of what was left out."""
        return self._excerpt.text()


class Live:
    """Calls `show` with what `text` gives: soon after a change, at most once in `interval` seconds."""

    def __init__(self, show: Callable[[str], None], text: Callable[[], str], interval: float = 0.1) -> None:
        self._show, self._text, self._interval = show, text, interval
        self._due: asyncio.TimerHandle | None = None
        self._last = float("-inf")

    def changed(self) -> None:
        """There is something new."""
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(self._last + self._interval, loop.time()), self._tell)

    def close(self) -> None:
        """Show nothing any more, except once what was not shown yet."""
        if self._due is not None:
            self._due.cancel()
            self._tell()

    def _tell(self) -> None:
        self._due = None
        self._last = asyncio.get_running_loop().time()
        self._show(self._text())
