"""Lines in, lines out: whatever the pieces, whatever the descriptor, however slow the other side."""

from __future__ import annotations

import asyncio
import os
import socket
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol.transport import HIGH_WATER, LineReader, LineSplitter, LineWriter, TooLong

contents = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b""))


def split(pieces: list[bytes], limit: int = 1000) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return [*lines, *splitter.finish()]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[first:last] for first, last in pairwise(bounds)]


@given(st.lists(contents, max_size=12), st.lists(st.integers(min_value=0)), st.sampled_from([b"\n", b"\r\n"]))
def test_lines_do_not_depend_on_how_the_bytes_arrive(lines: list[bytes], places: list[int], end: bytes) -> None:
    data = b"".join(line + end for line in lines)
    assert split(cut(data, places)) == split([data])


@given(
    st.lists(st.text(min_size=1, max_size=90).map(lambda text: f"[{text!a}]".encode())),
    st.sampled_from([b"\n", b"\r\n"]),
)
def test_every_line_comes_out_as_it_was(lines: list[bytes], end: bytes) -> None:
    assert split([b"".join(line + end for line in lines)]) == lines


def test_a_last_line_without_a_newline_counts() -> None:
    assert split([b"one\ntw", b"o"]) == [b"one", b"two"]


def test_blank_lines_and_byte_order_marks_are_dropped() -> None:
    assert split([b"\n\r\n  \n\xef\xbb\xbf\n\xef\xbb\xbf{}\r\n\t{} \n"]) == [b"{}", b"{}"]


@given(st.integers(min_value=0, max_value=3000), st.lists(st.integers(min_value=0)))
def test_a_line_over_the_limit_is_reported_once_and_the_next_is_served(size: int, places: list[int]) -> None:
    lines = split(cut(b"x" * size + b"\nnext\n", places), limit=1000)
    if size <= 1000:
        assert lines[-1] == b"next"
        assert not any(isinstance(line, TooLong) for line in lines)
    else:
        assert [type(line) for line in lines] == [TooLong, bytes]
        assert lines[-1] == b"next"


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    splitter = LineSplitter(1024 * 1024)
    chunk = b"x" * 65536
    tracemalloc.start()
    try:
        reports = [line for _ in range(2000) for line in splitter.feed(chunk)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(reports) == 1
    assert peak < 4 * 1024 * 1024


class Sink:
    """Collects what a reader hands over."""

    def __init__(self) -> None:
        self.lines: list[bytes | TooLong] = []
        self.ended = asyncio.Event()

    async def of(self, fd: int, leftover: bytes = b"") -> list[bytes | TooLong]:
        LineReader(fd).start(self.lines.append, self.ended.set, leftover)
        async with asyncio.timeout(5):
            await self.ended.wait()
        return self.lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for fd in ends:
        try:
            os.close(fd)
        except OSError:
            continue


async def test_a_pipe_is_read_to_its_end_after_what_was_left_over(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"wo\nthree")
    os.close(pipe[1])
    assert await Sink().of(pipe[0], b"one\nt") == [b"one", b"two", b"three"]


async def test_a_regular_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(b"line\n" * 100_000)
    with path.open("rb") as file:
        assert await Sink().of(file.fileno()) == [b"line"] * 100_000


async def test_the_null_device_is_at_its_end() -> None:
    fd = os.open(os.devnull, os.O_RDONLY)
    assert await Sink().of(fd) == []
    os.close(fd)


async def test_a_reader_that_was_stopped_hands_nothing_over(pipe: tuple[int, int]) -> None:
    lines: list[bytes | TooLong] = []
    reader = LineReader(pipe[0])
    reader.start(lines.append, lambda: lines.append(b"end"))
    reader.stop()
    os.write(pipe[1], b"late\n")
    os.close(pipe[1])
    await asyncio.sleep(0.05)
    assert lines == []


@pytest.mark.parametrize("kind", ["pipe", "file"])
async def test_a_paused_reader_loses_nothing(pipe: tuple[int, int], tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"line\n" * 100_000)
    fd = os.open(path, os.O_RDONLY) if kind == "file" else pipe[0]
    lines: list[bytes | TooLong] = []
    ended = asyncio.Event()
    reader = LineReader(fd)
    reader.start(lines.append, ended.set)
    reader.pause()
    if kind == "pipe":
        os.write(pipe[1], b"line\n" * 10_000)
        os.close(pipe[1])
    await asyncio.sleep(0.1)
    assert len(lines) < 20_000
    paused = len(lines)
    await asyncio.sleep(0.05)
    assert len(lines) == paused
    reader.resume()
    async with asyncio.timeout(5):
        await ended.wait()
    assert lines == [b"line"] * (100_000 if kind == "file" else 10_000)


class Lost:
    """Counts how often a connection was reported lost."""

    def __init__(self) -> None:
        self.times = 0
        self.event = asyncio.Event()

    def __call__(self) -> None:
        self.times += 1
        self.event.set()


@pytest.fixture
async def lost() -> Lost:
    return Lost()


@pytest.fixture
async def writer(pipe: tuple[int, int], lost: Lost) -> AsyncIterator[LineWriter]:
    writer = LineWriter(pipe[1])
    writer.start(lost)
    yield writer
    writer.close()


async def read_all(fd: int, size: int) -> bytes:
    """Exactly this many bytes, read by a thread."""

    def read() -> bytes:
        data = b""
        while len(data) < size:
            data += os.read(fd, size - len(data))
        return data

    return await asyncio.wait_for(asyncio.to_thread(read), 10)


async def test_lines_written_before_the_start_are_not_lost(pipe: tuple[int, int], lost: Lost) -> None:
    writer = LineWriter(pipe[1])
    writer.write(b"early\n")
    writer.start(lost)
    writer.write(b"late\n")
    await writer.flush()
    assert os.read(pipe[0], 100) == b"early\nlate\n"
    writer.close()


@given(st.lists(st.integers(min_value=0, max_value=200_000), max_size=12))
def test_a_slow_reader_gets_everything_in_order(sizes: list[int]) -> None:
    async def play() -> None:
        reader, fd = os.pipe()
        writer = LineWriter(fd)
        writer.start(lambda: None)
        lines = [bytes([65 + number]) * size + b"\n" for number, size in enumerate(sizes)]
        for line in lines:
            writer.write(line)
        expected = b"".join(lines)
        assert await read_all(reader, len(expected)) == expected
        writer.close()
        os.close(reader)
        os.close(fd)

    asyncio.run(play())


async def test_a_reader_that_does_not_read_never_blocks_the_loop(pipe: tuple[int, int], writer: LineWriter) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    for _ in range(100):
        writer.write(b"x" * 65536 + b"\n")
        await asyncio.sleep(0)
    assert loop.time() - start < 10
    assert writer.unsent > HIGH_WATER


async def test_drained_waits_for_the_reader_and_flush_for_the_last_byte(
    pipe: tuple[int, int], writer: LineWriter
) -> None:
    size = 1024 * 1024
    writer.write(b"x" * size)
    drained, flushed = asyncio.create_task(writer.drained()), asyncio.create_task(writer.flush())
    await asyncio.sleep(0.05)
    assert not drained.done()
    await read_all(pipe[0], size - HIGH_WATER // 2)
    await asyncio.sleep(0.05)
    assert not flushed.done()
    await read_all(pipe[0], HIGH_WATER // 2)
    async with asyncio.timeout(5):
        await asyncio.gather(drained, flushed)
    assert writer.unsent == 0


async def test_drained_does_not_wait_below_the_mark(writer: LineWriter) -> None:
    writer.write(b"x" * HIGH_WATER)
    async with asyncio.timeout(1):
        await writer.drained()


async def test_lines_of_one_turn_of_the_loop_leave_in_one_system_call() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writer = LineWriter(ours.fileno())
    writer.start(lambda: None)
    for _ in range(3):
        writer.write(b"line\n")
    await writer.flush()
    assert theirs.recv(1000) == b"line\n" * 3
    writer.close()
    ours.close()
    theirs.close()


async def test_a_reader_that_goes_away_is_noticed_though_nothing_is_written(
    pipe: tuple[int, int], writer: LineWriter, lost: Lost
) -> None:
    os.close(pipe[0])
    async with asyncio.timeout(5):
        await lost.event.wait()
    assert lost.times == 1


async def test_whoever_waits_is_freed_when_the_reader_goes_away(
    pipe: tuple[int, int], writer: LineWriter, lost: Lost
) -> None:
    writer.write(b"x" * 1024 * 1024)
    waiting = [asyncio.create_task(writer.drained()), asyncio.create_task(writer.flush())]
    await asyncio.sleep(0)
    os.close(pipe[0])
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
    writer.write(b"dropped\n")
    assert (lost.times, writer.unsent) == (1, 0)


async def test_a_socket_that_is_closed_is_noticed_at_the_next_write(lost: Lost) -> None:
    ours, theirs = socket.socketpair()
    writer = LineWriter(ours.fileno())
    writer.start(lost)
    theirs.close()
    writer.write(b"line\n")
    async with asyncio.timeout(5):
        await lost.event.wait()
    writer.close()
    ours.close()


async def test_the_descriptor_is_given_back_as_it_was_found(pipe: tuple[int, int], lost: Lost) -> None:
    for blocking in (True, False):
        os.set_blocking(pipe[1], blocking)
        writer = LineWriter(pipe[1])
        writer.start(lost)
        assert not os.get_blocking(pipe[1])
        writer.close()
        assert os.get_blocking(pipe[1]) is blocking


async def test_a_regular_file_can_be_written(tmp_path: Path, lost: Lost) -> None:
    path = tmp_path / "out"
    with path.open("wb") as file:
        writer = LineWriter(file.fileno())
        writer.start(lost)
        writer.write(b"x" * 1_000_000 + b"\n")
        await writer.flush()
        writer.close()
    assert path.stat().st_size == 1_000_001
