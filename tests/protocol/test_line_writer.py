"""Lines go out in order, whatever the descriptor, however slow the other side."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.protocol.line_writer import HIGH_WATER, LineWriter


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
