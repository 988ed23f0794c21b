"""Output of commands: whole characters, no escape codes, bounded memory."""

from __future__ import annotations

import asyncio
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_acp.local.output import Excerpt, Live, PlainDecoder
from hermes_acp.text import plain

NOISE = st.lists(
    st.sampled_from(
        [
            b"\x1b",
            b"[",
            b"]",
            b"0;",
            b"31m",
            b"\x07",
            b"\\",
            b"\r",
            b"\n",
            b"a",
            b"\xe4",
            b"\xbd\xa0",
            b"\xff",
            b"P",
            b"\x08",
            b"\x1b[0m",
        ]
    ),
    max_size=40,
).map(b"".join)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def decoded(parts: list[bytes]) -> str:
    decoder = PlainDecoder()
    return "".join(map(decoder.feed, parts)) + decoder.finish()


@example(b"\x1b\r\x1b\n", [3])
@example(b"50%\r\x1b[0m\n", [8])
@example(b"50%\r\x1b]0;t\x07\n", [4])
@example(b"\r\x00\n", [2])
@given(NOISE | st.binary(max_size=80), st.lists(st.integers(0, 200), max_size=8))
def test_where_the_bytes_are_split_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    whole = plain(data.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n")
    assert decoded(pieces(data, cuts)) == whole


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m\r\n", "red\n"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"10%\r20%\r\n", "10%\n20%\n"),
        ("北京🌍".encode(), "北京🌍"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\x1b]0;never ended\nmore", "\nmore"),
    ],
)
def test_byte_by_byte_the_text_is_plain(data: bytes, text: str) -> None:
    assert decoded([bytes([byte]) for byte in data]) == text


def test_an_escape_code_that_never_ends_does_not_hold_the_output_for_ever() -> None:
    decoder = PlainDecoder()
    decoder.feed(b"\x1b]52;c;")
    shown = "".join(decoder.feed(b"A" * 10_000) for _ in range(20))
    assert "A" in shown


@given(st.lists(st.text(max_size=30)), st.integers(0, 20), st.integers(1, 20))
def test_an_excerpt_is_the_head_and_the_tail_and_counts_the_rest(texts: list[str], head: int, tail: int) -> None:
    excerpt, whole = Excerpt(head, tail), "".join(texts)
    for text in texts:
        excerpt.feed(text)
    if len(whole) <= head + tail:
        assert excerpt.text() == whole
    else:
        left_out = len(whole) - head - tail
        assert excerpt.text() == f"{whole[:head]}\n[… {left_out} characters left out …]\n{whole[-tail:]}"


def test_an_excerpt_holds_no_more_than_it_keeps() -> None:
    excerpt = Excerpt(100, 100)
    tracemalloc.start()
    try:
        for _ in range(1000):
            excerpt.feed("x" * 10_000)
            kept, _ = tracemalloc.get_traced_memory()
            assert kept < 20_000
    finally:
        tracemalloc.stop()


async def test_a_flood_is_shown_at_most_ten_times_a_second_and_once_at_its_end() -> None:
    shown: list[tuple[float, str]] = []
    clock, text = asyncio.get_running_loop().time, ""
    live = Live(lambda now: shown.append((clock(), now)), lambda: text)
    begun = clock()
    while clock() - begun < 0.35:
        text = f"{clock()}"
        live.changed()
        await asyncio.sleep(0.001)
    live.close()
    times = [at for at, _ in shown[:-1]]
    assert len(shown) >= 2
    assert all(b - a >= 0.09 for a, b in pairwise(times))
    assert shown[-1][1] == text


async def test_nothing_is_shown_twice_or_after_the_end() -> None:
    shown: list[str] = []
    live = Live(shown.append, lambda: "all")
    live.changed()
    await asyncio.sleep(0.02)
    live.close()
    await asyncio.sleep(0.15)
    assert shown == ["all"]
