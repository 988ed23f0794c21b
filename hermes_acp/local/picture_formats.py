"""What the bytes of a picture say of it, read without decoding a pixel."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from hermes_acp.lazy_dataclasses import dataclass

_PNG = b"\x89PNG\r\n\x1a\n"
_NO_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
"""JPEG markers without a length after them: TEM, RST0 to RST7."""

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame and tell its size: SOF0 to SOF15."""


class BrokenPicture(ValueError):
    """The bytes cannot be shown; the text says why, to go on after "it"."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A picture's media type, its size in pixels, and whether it holds more than one frame."""

    mime_type: str
    width: int
    height: int
    moves: bool = False


def begins_like_picture(data: bytes) -> bool:
    """Whether a file with this beginning may be a picture of a kind that `outline` reads."""
    return data.startswith((_PNG[:6], b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF"))


def outline(data: bytes) -> Outline:
    """The outline of a whole PNG, JPEG, GIF or WebP picture.

    Raises:
        BrokenPicture: it is none, or a part of it is missing or damaged.
    """
    read = _reader(data)
    try:
        found = read(data)
    except (IndexError, struct.error):
        raise BrokenPicture("is not whole") from None
    if not (found.width and found.height):
        raise BrokenPicture("has no size")
    return found


def _reader(data: bytes) -> Callable[[bytes], Outline]:
    if data.startswith(_PNG):
        return _png
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _gif
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp
    raise BrokenPicture("is empty" if not data else "is no PNG, JPEG, GIF or WebP picture")


def _png(data: bytes) -> Outline:
    """PNG (W3C), section 5: chunks of length, type, data and a checksum, IHDR first and IEND last."""
    width, height = struct.unpack_from(">II", data, 16)
    kinds: list[bytes] = []
    at = len(_PNG)
    while not kinds or kinds[-1] != b"IEND":
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 8 + length
        (checksum,) = struct.unpack_from(">I", data, end)
        if zlib.crc32(memoryview(data)[at + 4 : end]) != checksum:
            raise BrokenPicture("is damaged")
        kinds.append(data[at + 4 : at + 8])
        at = end + 4
    if kinds[0] != b"IHDR" or b"IDAT" not in kinds:
        raise BrokenPicture("is damaged")
    return Outline("image/png", width, height, moves=b"acTL" in kinds)


def _jpeg(data: bytes) -> Outline:
    """ITU T.81, annex B: segments up to the scan, and the mark of the end somewhere after it."""
    width = height = 0
    at = 2
    while (marker := _jpeg_marker(data, at)) != 0xDA:
        if marker in _NO_LENGTH:
            at += 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
        at += 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])
    if data.find(b"\xff\xd9", at) < 0:
        raise BrokenPicture("is not whole")
    return Outline("image/jpeg", width, height)


def _jpeg_marker(data: bytes, at: int) -> int:
    if data[at] != 0xFF:
        raise BrokenPicture("is damaged")
    return data[at + 1]


def _gif(data: bytes) -> Outline:
    """GIF89a, section 15 on: a screen, then blocks, each with a chain of sub-blocks, up to the trailer."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + _gif_colours(flags)
    frames = 0
    while frames < 2 and at < len(data) and data[at] != 0x3B:
        if data[at] == 0x2C:
            frames += 1
            at = _gif_chain(data, at + 11 + _gif_colours(data[at + 9]))
        elif data[at] == 0x21:
            at = _gif_chain(data, at + 2)
        else:
            raise BrokenPicture("is damaged")
    if not frames:
        raise BrokenPicture("is not whole")
    return Outline("image/gif", width, height, moves=frames > 1)


def _gif_colours(flags: int) -> int:
    """The length of the table of colours that these flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _gif_chain(data: bytes, at: int) -> int:
    """Where a chain of sub-blocks ends: after the one of length 0."""
    while length := data[at]:
        at += 1 + length
    return at + 1


def _webp(data: bytes) -> Outline:
    """RFC 9649: a RIFF container; its first chunk tells the size, in one of three ways."""
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data) + 1:
        raise BrokenPicture("is not whole")
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return Outline("image/webp", width, height, moves=bool(data[20] & 2))
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return Outline("image/webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    if kind != b"VP8 ":
        raise BrokenPicture("is damaged")
    width, height = struct.unpack_from("<HH", data, 26)
    return Outline("image/webp", width & 0x3FFF, height & 0x3FFF)
