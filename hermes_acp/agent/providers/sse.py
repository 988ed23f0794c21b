"""Server-Sent Events, decoded from bytes as they come (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

from typing import NamedTuple

MAX_BYTES = 32 * 1024 * 1024


class SseError(ValueError):
    """The bytes are no sensible event stream: a line or an event is too long."""


class SseEvent(NamedTuple):
    """One event: its data lines joined by newlines, and its name ("" when it has none)."""

    data: str
    name: str = ""


class SseDecoder:
    """Bytes in, events out; where the bytes are cut makes no difference.

    Lines may end with LF, CR or CRLF. Bytes that are not UTF-8 become U+FFFD, as the standard says.
    `max_bytes` limits a line and the data of one event.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max = max_bytes
        self._open_line = bytearray()
        self._after_cr = False
        self._at_start = True
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = b""

    def feed(self, block: bytes) -> list[SseEvent]:
        """The events that end in this block.

        Raises:
            SseError: a line or an event is longer than the limit.
        """
        events: list[SseEvent] = []
        for line in self._complete_lines(self._with_newlines(block)):
            if line.startswith(b"data:"):
                self._add(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif line:
                self._field(line)
            elif self._data:
                events.append(self._event())
            else:
                self._name = b""
        return events

    def close(self) -> list[SseEvent]:
        """The last event, when the stream ended without the blank line that would have closed it."""
        return self.feed(b"\n\n")

    def _with_newlines(self, block: bytes) -> bytes:
        """The block with every line end written as LF, a CRLF between two blocks included."""
        if not block:
            return block
        if self._after_cr:
            block = block.removeprefix(b"\n")
        self._after_cr = block.endswith(b"\r")
        if b"\r" in block:
            return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return block

    def _complete_lines(self, block: bytes) -> list[bytes]:
        """The lines that end in this block; what follows the last of them is kept for the next block."""
        *lines, rest = block.split(b"\n")
        if lines:
            lines[0] = self._first_line(lines[0])
        self._open_line += rest
        longest = max(len(self._open_line), max(map(len, lines), default=0))
        if longest > self._max:
            raise SseError(f"a line of the event stream is longer than {self._max} bytes")
        return lines

    def _first_line(self, end: bytes) -> bytes:
        line = bytes(self._open_line) + end
        self._open_line.clear()
        if self._at_start:
            self._at_start = False
            return line.removeprefix(b"\xef\xbb\xbf")
        return line

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"event":
            self._name = value.removeprefix(b" ")
        elif name == b"data":
            self._add(b"")

    def _add(self, data: bytes) -> None:
        self._data.append(data)
        self._data_bytes += len(data) + 1
        if self._data_bytes > self._max:
            raise SseError(f"an event of the stream is longer than {self._max} bytes")

    def _event(self) -> SseEvent:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        event = SseEvent(data.decode("utf-8", "replace"), self._name.decode("utf-8", "replace"))
        self._data, self._data_bytes, self._name = [], 0, b""
        return event
