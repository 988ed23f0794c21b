"""The wire's way in: lines from a file descriptor, never blocking the loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterator

from hermes_acp.lazy_dataclasses import dataclass

MAX_LINE = 32 * 1024 * 1024
"""The longest line that is taken, in bytes."""

_CHUNK = 65536
_HEAD = 4096
_BOM = b"\xef\xbb\xbf"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit was thrown away; `head` is how it began."""

    head: bytes


class LineSplitter:
    """Cuts a stream of bytes into lines: without their ends, without blank ones and without a BOM."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that these bytes complete. A line over the limit is reported once, as soon as it is."""
        *complete, tail = data.split(b"\n")
        for piece in complete:
            yield from self._add(piece)
            yield from self._end()
        yield from self._add(tail)

    def finish(self) -> Iterator[bytes | TooLong]:
        """The last line, when the stream ended without a newline."""
        yield from self._end()

    def _add(self, piece: bytes) -> Iterator[TooLong]:
        if self._skipping:
            return
        self._buffer += piece
        if len(self._buffer) > self._limit:
            head = bytes(self._buffer[:_HEAD])
            self._buffer = bytearray()
            self._skipping = True
            yield TooLong(head)

    def _end(self) -> Iterator[bytes]:
        line = bytes(self._buffer).removeprefix(_BOM).strip(b" \t\r")
        if self._buffer:
            self._buffer = bytearray()
        self._skipping = False
        if line:
            yield line


class LineReader:
    """Reads lines from a descriptor and hands them over on the loop, in order.

    Pipes, sockets and terminals are watched by the loop; what the loop cannot watch (a regular file, any
    pipe on Windows) is read by a thread.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._splitter = LineSplitter()
        self._source: _Watch | _Pump | None = None

    def start(
        self, on_line: Callable[[bytes | TooLong], None], on_end: Callable[[], None], leftover: bytes = b""
    ) -> None:
        """Begin, with bytes that were read before. `on_end` is called once, after the last line."""
        self._on_line, self._on_end = on_line, on_end
        loop = asyncio.get_running_loop()
        self._source = _Watch(self._fd, loop, self._take)
        if leftover:
            self._take(leftover)
        try:
            self._source.resume()
        except (PermissionError, NotImplementedError):
            self._source = _Pump(self._fd, loop, self._take)
            self._source.resume()

    def pause(self) -> None:
        """Leave what comes in to the system until `resume`; what was read already is still handed over."""
        if self._source is not None:
            self._source.pause()

    def resume(self) -> None:
        """Read on."""
        if self._source is not None:
            self._source.resume()

    def stop(self) -> None:
        """Read no more. Nothing is called afterwards."""
        self.pause()
        self._source = None

    def _take(self, data: bytes) -> None:
        if self._source is None:
            return
        for line in self._splitter.feed(data) if data else self._splitter.finish():
            self._on_line(line)
        if not data:
            self.stop()
            self._on_end()


class _Watch:
    """The loop tells when there is something to read. `take` gets it, and nothing at the end."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._take = take

    def pause(self) -> None:
        self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        self._loop.add_reader(self._fd, self._readable)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            _log.info("reading the editor's side failed: %s", error)
            data = b""
        self._take(data)


class _Pump:
    """A thread reads, one piece each time it is asked to. `take` gets them, and nothing at the end."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._take = take
        self._asked = threading.Semaphore(0)
        self._reading = False
        self._paused = True
        threading.Thread(target=self._run, name="wire-reader", daemon=True).start()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        if not self._reading:
            self._reading = True
            self._asked.release()

    def _arrived(self, data: bytes) -> None:
        self._reading = False
        self._take(data)
        if data and not self._paused:
            self.resume()

    def _run(self) -> None:
        data = b"?"
        while data:
            self._asked.acquire()
            data = self._read()
            try:
                self._loop.call_soon_threadsafe(self._arrived, data)
            except RuntimeError:
                # The loop is closed: nobody is left to read for.
                return

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, _CHUNK)
        except OSError as error:
            _log.info("reading the editor's side failed: %s", error)
            return b""
