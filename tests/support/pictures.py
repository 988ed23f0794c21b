"""Pictures for tests."""

from __future__ import annotations

import base64
import os
from io import BytesIO
from typing import Any

from PIL import Image as Pillow

from hermes_acp.messages import Image


def encoded(canvas: Pillow.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The bytes of a canvas as a file of this kind."""
    buffer = BytesIO()
    canvas.save(buffer, kind, **options)
    return buffer.getvalue()


def plain(width: int = 1, height: int = 1, kind: str = "PNG", colour: Any = "red") -> bytes:
    """A picture of one colour."""
    return encoded(Pillow.new("RGB", (width, height), colour), kind)


def noise(width: int, height: int, kind: str = "PNG", **options: Any) -> bytes:
    """A picture that cannot be compressed."""
    return encoded(Pillow.frombytes("RGB", (width, height), os.urandom(width * height * 3)), kind, **options)


def moving(kind: str) -> bytes:
    """A picture of two frames, the first one red."""
    frames = [Pillow.new("RGB", (30, 20), colour) for colour in ("red", "blue")]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:])


def in_base64(data: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(data).decode()


def picture(colour: Any = "red") -> Image:
    """A small picture of a conversation; another colour makes another picture."""
    return Image(in_base64(plain(colour=colour)), "image/png")


def opened(image: Image | bytes | str) -> Pillow.Image:
    """The picture in a conversation's image, in bytes or in a data URL, decoded."""
    match image:
        case Image(data, _):
            image = base64.b64decode(data)
        case str():
            image = base64.b64decode(image.partition(",")[2])
    canvas = Pillow.open(BytesIO(image))
    canvas.load()
    return canvas


def block(data: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    """An image block of ACP."""
    return {"type": "image", "mimeType": mime_type, "data": in_base64(data)}
