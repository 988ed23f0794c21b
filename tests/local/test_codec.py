"""Text from bytes and back: the same bytes, or a refusal."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.local import codec

GERMAN = "Straße: 5 €, naïve\r\n"
CHINESE = "注释：中文内容\nname = 1\n"


@given(st.binary(max_size=300))
def test_whatever_is_taken_for_text_is_given_back_byte_for_byte(data: bytes) -> None:
    try:
        file = codec.decode(data)
    except codec.NotText:
        return
    assert file.encode(file.text) == data


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "gb18030"]))
def test_text_in_any_usual_encoding_is_given_back_byte_for_byte(text: str, encoding: str) -> None:
    data = text.replace("\0", "").encode(encoding, "ignore")
    try:
        file = codec.decode(data)
    except codec.NotText:
        assert codec.is_binary(data)
        return
    assert file.encode(file.text) == data


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("héllo 💫".encode(), "héllo 💫", "utf-8"),
        (codecs.BOM_UTF8 + b"hello\n", "hello\n", "utf-8"),
        ("hi ü\n".encode("utf-16"), "hi ü\n", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "hi ü\n".encode("utf-16-be"), "hi ü\n", "utf-16-be"),
        ("hi\n".encode("utf-32"), "hi\n", "utf-32-le"),
        (b"caf\xe9 = 1\n", "café = 1\n", "cp1252"),
        (GERMAN.encode("cp1252"), GERMAN, "cp1252"),
        (CHINESE.encode("gbk"), CHINESE, "gb18030"),
        (b"a\x81b\n", "a\x81b\n", "latin-1"),
    ],
)
def test_the_encoding_is_found(data: bytes, text: str, encoding: str) -> None:
    file = codec.decode(data)
    assert (file.text, file.encoding) == (text, encoding)


def test_a_stray_byte_does_not_turn_a_utf8_file_into_another_encoding() -> None:
    file = codec.decode("größer, süß".encode() + b" \xff\n")
    assert file.text.startswith("größer, süß")
    assert file.encoding == "utf-8"


@pytest.mark.parametrize(
    "data", [b"a\0b", b"\x89PNG\r\n", b"%PDF-1.7\n", b"\xff\xd8\xff\xe0abc", codecs.BOM_UTF16_LE + b"abc"]
)
def test_what_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(codec.NotText):
        codec.decode(data)


@pytest.mark.parametrize(
    ("text", "newline", "mixed"),
    [
        ("", "\n", False),
        ("a", "\n", False),
        ("a\nb\n", "\n", False),
        ("a\r\nb\r\n", "\r\n", False),
        ("a\rb\r", "\r", False),
        ("a\r\nb\r\nc\n", "\r\n", True),
        ("a\n\rb\n", "\n", True),
    ],
)
def test_the_line_break_of_most_lines_is_found(text: str, newline: str, mixed: bool) -> None:
    file = codec.decode(text.encode())
    assert (file.newline, file.mixed) == (newline, mixed)


def test_only_line_breaks_break_lines() -> None:
    assert codec.lines("a\x0cb\x85c\u2028d\x1ce") == ["a\x0cb\x85c\u2028d\x1ce"]
    assert codec.lines("a\r\nb\nc\rd") == ["a", "b", "c", "d"]


def test_a_character_cut_off_at_the_end_of_a_piece_is_not_shown_as_garbage() -> None:
    assert codec.readable("naïve €".encode()[:-1]) == "naïve "
