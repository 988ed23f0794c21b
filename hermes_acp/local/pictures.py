"""Pictures made fit for a model: small ones as they are, others scaled down, animated ones as their first frame.

Pillow is imported when a picture must really be changed, and works in a thread.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.picture_formats import BrokenPicture, Outline, outline
from hermes_acp.messages import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Canvas

MAX_SIDE = 1568
"""Pixels of the longer side. Larger pictures are scaled down by the models' servers, or refused."""

MAX_BASE64 = 3_500_000
"""Characters of a picture in base64: the strictest servers refuse 5 MB."""

MAX_PIXELS = 50_000_000
"""A picture of more pixels is not decoded: it would take hundreds of megabytes of memory."""

_SMALL = 256 * 1024
"""Up to so many bytes are looked at without a thread."""

_SIDES = (MAX_SIDE, 1024, 640)
_QUALITIES = (85, 60)
_NAMES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
_DECODERS = {"PNG": "Png", "JPEG": "Jpeg", "GIF": "Gif", "WebP": "WebP"}
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that fits, its size in pixels, and the outline of what it was made from."""

    image: Image
    width: int
    height: int
    original: Outline

    def describe(self) -> str:
        """Kind and size, such as "a JPEG picture of 4000x3000 pixels, shown here as 1568x1176"."""
        size = (self.original.width, self.original.height)
        text = f"a {_NAMES[self.original.mime_type]} picture of {size[0]}x{size[1]} pixels"
        if self.original.moves:
            text += ", of which the first frame is shown"
        return text if (self.width, self.height) == size else f"{text}, shown here as {self.width}x{self.height}"


async def fit(data: bytes) -> Picture:
    """The picture in some bytes, fit to be stored and sent.

    Raises:
        BrokenPicture: there is none in them that can be shown.
    """
    if len(data) <= _SMALL and _is_fit(found := outline(data), data):
        return _unchanged(data, found)
    return await asyncio.to_thread(_fit, data)


async def from_base64(text: str) -> bytes:
    """The bytes of a base64 text, also of one in lines, in the alphabet for addresses, or in a data URL.

    Raises:
        BrokenPicture: it is none.
    """
    return await asyncio.to_thread(_decoded, text) if len(text) > _SMALL else _decoded(text)


def _decoded(text: str) -> bytes:
    if text.startswith("data:"):
        text = text.partition(",")[2]
    plain = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise BrokenPicture("is not base64") from None


def _is_fit(found: Outline, data: bytes) -> bool:
    size = (len(data) + 2) // 3 * 4
    return max(found.width, found.height) <= MAX_SIDE and size <= MAX_BASE64 and not found.moves


def _unchanged(data: bytes, found: Outline) -> Picture:
    return Picture(_image(data, found.mime_type), found.width, found.height, found)


def _image(data: bytes, mime_type: str) -> Image:
    return Image(base64.b64encode(data).decode("ascii"), mime_type)


def _fit(data: bytes) -> Picture:
    found = outline(data)
    if _is_fit(found, data):
        return _unchanged(data, found)
    _check_pixels(found.width, found.height)
    with _ONE_AT_A_TIME:
        try:
            return _changed(data, found)
        except BrokenPicture:
            raise
        except Exception as error:
            # What a decoder meets in damaged or hostile bytes has no common class.
            raise BrokenPicture(f"cannot be decoded ({type(error).__name__})") from error


def _check_pixels(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise BrokenPicture(f"is too large: {width}x{height} pixels, and {MAX_PIXELS // 1_000_000} million can be read")


def _changed(data: bytes, found: Outline) -> Picture:
    canvas = _opened(data, found)
    for image, size in _smaller_and_smaller(canvas, found.mime_type == "image/jpeg"):
        if len(image.data) <= MAX_BASE64:
            return Picture(image, *size, found)
    raise BrokenPicture("cannot be made small enough")


def _opened(data: bytes, found: Outline) -> Canvas:
    """The first frame, upright and not too large, in plain colours with or without transparency."""
    pillow, turning = import_module("PIL.Image"), import_module("PIL.ImageOps")
    # Only this format's own decoder is loaded and let near the bytes.
    kind = _NAMES[found.mime_type]
    import_module(f"PIL.{_DECODERS[kind]}ImagePlugin")
    canvas: Canvas = pillow.open(BytesIO(data), formats=[kind])
    _check_pixels(*canvas.size)
    canvas.draft(None, (MAX_SIDE, MAX_SIDE))
    canvas = _smooth(canvas)
    canvas.thumbnail((MAX_SIDE, MAX_SIDE))
    upright: Canvas = turning.exif_transpose(canvas)
    return upright.convert(_plain_mode(upright))


def _smooth(canvas: Canvas) -> Canvas:
    """The same in a mode that can be scaled without losing shades; most can, and are not copied."""
    match canvas.mode:
        case "I" | "I;16" | "I;16B":
            return canvas.point(lambda value: value / 256).convert("L")
        case "1":
            return canvas.convert("L")
        case "P" | "PA":
            return canvas.convert(_plain_mode(canvas))
        case _:
            return canvas


def _plain_mode(canvas: Canvas) -> str:
    return "RGBA" if canvas.has_transparency_data else "RGB"


def _smaller_and_smaller(canvas: Canvas, is_photo: bool) -> Iterator[tuple[Image, tuple[int, int]]]:
    for side in _SIDES:
        canvas.thumbnail((side, side))
        if not is_photo:
            yield _image(_saved(canvas, "PNG"), "image/png"), canvas.size
        opaque = _on_white(canvas)
        for quality in _QUALITIES:
            yield _image(_saved(opaque, "JPEG", quality=quality), "image/jpeg"), canvas.size


def _on_white(canvas: Canvas) -> Canvas:
    if canvas.mode == "RGB":
        return canvas
    white: Canvas = import_module("PIL.Image").new("RGBA", canvas.size, "white")
    white.alpha_composite(canvas)
    return white.convert("RGB")


def _saved(canvas: Canvas, kind: str, **options: int) -> bytes:
    buffer = BytesIO()
    canvas.save(buffer, kind, **options)
    return buffer.getvalue()
