"""What strict servers demand of the pictures of a request."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any

from PIL import Image

MAX_BASE64 = 5 * 1024 * 1024
MAX_SIDE = 8000
MANY = 20
MAX_SIDE_OF_MANY = 2000


def broken_picture_rules(messages: list[Any]) -> Iterator[str]:
    """What is wrong with the pictures of chat messages."""
    yield from broken_url_rules(_urls(messages))


def broken_url_rules(pictures: Iterable[str]) -> Iterator[str]:
    """What is wrong with the pictures in data URLs: their size in characters and pixels, their bytes, their type."""
    urls = [url for url in pictures if url.startswith("data:")]
    limit = MAX_SIDE_OF_MANY if len(urls) > MANY else MAX_SIDE
    for number, url in enumerate(urls):
        problem, side = _look(url)
        if problem:
            yield f"image {number}: {problem}"
        elif side > limit:
            yield f"image {number}: a dimension exceeds the maximum of {limit} pixels for {len(urls)} images"


def _urls(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            url = part.get("image_url", {}).get("url", "") if isinstance(part, Mapping) else ""
            yield url


@lru_cache(maxsize=64)
def _look(url: str) -> tuple[str, int]:
    """What is wrong with a picture, and the longer of its sides."""
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    if len(data) > MAX_BASE64:
        return f"it exceeds 5 MB maximum: {len(data)} bytes", 0
    try:
        with Image.open(BytesIO(base64.b64decode(data, validate=True))) as picture:
            picture.load()
            if getattr(picture, "n_frames", 1) > 1:
                return "animated images are not supported", 0
            return ("" if picture.get_format_mimetype() == kind else f"it is no {kind}"), max(picture.size)
    except (binascii.Error, OSError, ValueError, SyntaxError) as error:
        return f"could not process image: {error}", 0
