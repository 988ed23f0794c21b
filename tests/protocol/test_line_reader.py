"""Lines come in as they were sent, whatever the pieces, whatever the descriptor."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol.line_reader import LineReader, LineSplitter, TooLong

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
