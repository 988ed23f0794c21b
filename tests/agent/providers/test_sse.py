"""Event streams arrive in any cut, with any line end."""

import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_acp.agent.providers.sse import SseDecoder, SseError, SseEvent


def decoded(*blocks, **limits):
    decoder = SseDecoder(**limits)
    return [event for block in blocks for event in decoder.feed(block)] + decoder.close()


def cuts(data, places):
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(bounds)]


line_ends = [b"\n", b"\r", b"\r\n", b"\n\n"]
fields = [b"data: ", b"data:", b"data", b"event: x", b"event", b": ping", b"id: 1"]
values = [b"\xef\xbb\xbf", "北京🌍".encode(), b"\xff", b"{}", b" ", b":", b"\x00"]
pieces = st.sampled_from([*line_ends, *fields, *values])
streams = st.lists(pieces, max_size=40).map(b"".join) | st.binary(max_size=80)
payloads = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30)


@given(streams, st.lists(st.integers(0, 10_000), max_size=12))
@example(b"data: a\r\n\r\ndata: b\r\n\r\n", [8, 9, 10])
@example("data: 北京🌍\n\n".encode(), list(range(30)))
def test_any_cut_of_the_bytes_gives_the_same_events(data, places):
    assert decoded(*cuts(data, places)) == decoded(data)


@given(st.lists(payloads, max_size=6), st.sampled_from(["\n", "\r", "\r\n"]), st.booleans())
def test_every_line_end_gives_the_data_that_was_sent(texts, newline, closed):
    stream = "".join(f": ping{newline}data: {text}{newline}{newline}" for text in texts)
    if not closed:
        stream = stream.removesuffix(newline)
    assert [event.data for event in decoded(stream.encode())] == texts


@given(st.lists(payloads, min_size=1, max_size=4))
def test_data_lines_of_one_event_are_joined_by_newlines(lines):
    stream = "".join(f"data:{' ' if line.startswith(' ') else ''}{line}\n" for line in lines)
    assert decoded(stream.encode()) == [SseEvent("\n".join(lines))]


def test_an_event_carries_its_name_and_the_next_one_does_not():
    assert decoded(b"event: error\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n") == [
        SseEvent("1", "error"),
        SseEvent("2"),
        SseEvent("3"),
    ]


def test_comments_and_unknown_fields_are_no_events():
    assert decoded(b": ping\n\nid: 1\n\nretry: 5\n\nnonsense\n\n") == []


def test_a_byte_order_mark_before_the_first_line_is_skipped():
    assert decoded(b"\xef\xbb", b"\xbfdata: 1\n\n") == [SseEvent("1")]


def test_bytes_that_are_not_utf_8_are_replaced_and_the_stream_goes_on():
    assert decoded(b"data: a\xff\n\ndata: b\n\n") == [SseEvent("a\ufffd"), SseEvent("b")]


@pytest.mark.parametrize(
    "stream", [b"data: 0123456789ABCDEF", b": 0123456789ABCDEF\n", b"data: 12345678\ndata: 9012345\n"]
)
def test_a_line_or_event_over_the_limit_is_an_error(stream):
    with pytest.raises(SseError):
        decoded(*cuts(stream, range(len(stream))), max_bytes=15)


def test_a_very_long_line_in_small_blocks_is_read_in_linear_time():
    text = json.dumps("x" * 8_000_000).encode()
    stream = b"data: " + text + b"\n\n"
    assert decoded(*(stream[at : at + 4096] for at in range(0, len(stream), 4096))) == [SseEvent(text.decode())]
