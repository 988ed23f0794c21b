"""Pictures made fit: small ones byte for byte, others within the limits, broken ones refused with a reason."""

import asyncio
import base64
import os
import struct
import subprocess
import sys
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from hermes_acp.local import pictures
from hermes_acp.local.picture_formats import BrokenPicture, begins_like_picture, outline
from tests.support.pictures import encoded, in_base64, moving, noise, opened, plain

KINDS = ["PNG", "JPEG", "GIF", "WEBP"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (40, 30), (1568, 3)])
async def test_a_small_picture_stays_as_it_is(kind, size):
    data = plain(*size, kind)
    picture = await pictures.fit(data)
    assert base64.b64decode(picture.image.data) == data
    assert picture.image.mime_type == f"image/{kind.lower()}"
    assert (picture.width, picture.height) == size
    assert begins_like_picture(data[:12])


@pytest.mark.parametrize("size", [(1800, 1200), (1200, 1800), (9000, 10), (1, 5000)])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_large_picture_is_scaled_down_to_the_longer_side(kind, size):
    picture = await pictures.fit(plain(*size, kind))
    made = opened(picture.image)
    assert max(made.size) == pictures.MAX_SIDE
    assert min(made.size) == max(1, round(min(size) * pictures.MAX_SIDE / max(size)))
    assert made.size == (picture.width, picture.height)
    assert picture.image.mime_type == made.get_format_mimetype()
    assert (picture.original.width, picture.original.height) == size
    red, green, blue = made.convert("RGB").getpixel((0, 0))
    assert red > 250 > 5 > max(green, blue)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
async def test_of_a_moving_picture_the_first_frame_is_kept(kind):
    picture = await pictures.fit(moving(kind))
    made = opened(picture.image)
    assert getattr(made, "n_frames", 1) == 1
    assert made.size == (30, 20)
    red, _, blue = made.convert("RGB").getpixel((5, 5))
    assert red > 200 > 50 > blue
    assert "first frame" in picture.describe()


@pytest.mark.parametrize("form", [{"kind": "PNG"}, {"kind": "JPEG", "quality": 100}], ids=["PNG", "JPEG"])
async def test_what_cannot_be_compressed_is_made_to_fit_measured_in_base64(form):
    data = noise(1500, 1500, **form)
    assert len(in_base64(data)) > pictures.MAX_BASE64
    picture = await pictures.fit(data)
    assert len(picture.image.data) <= pictures.MAX_BASE64
    assert opened(picture.image).size == (1500, 1500)


@pytest.mark.parametrize(
    ("mode", "colour", "kind"),
    [
        ("1", 255, "PNG"),
        ("L", 200, "PNG"),
        ("LA", (200, 255), "PNG"),
        ("L", 200, "GIF"),
        ("RGBA", (200, 200, 200, 255), "WEBP"),
        ("CMYK", (0, 0, 0, 55), "JPEG"),
        ("I;16", 200 * 256, "PNG"),
    ],
)
async def test_every_kind_of_colour_comes_through(mode, colour, kind):
    picture = await pictures.fit(encoded(Pillow.new(mode, (2000, 100), colour), kind))
    shade = opened(picture.image).convert("RGB").getpixel((10, 10))
    assert all(abs(value - (255 if mode == "1" else 200)) < 8 for value in shade)


async def test_what_is_transparent_stays_so_or_turns_white():
    clear = Pillow.new("RGBA", (2000, 100), (0, 0, 0, 0))
    assert opened((await pictures.fit(encoded(clear))).image).getpixel((0, 0))[3] == 0
    rough = Pillow.frombytes("RGB", (1400, 1400), os.urandom(1400 * 1400 * 3))
    rough.putalpha(Pillow.new("L", rough.size, 0))
    made = opened((await pictures.fit(encoded(rough, compress_level=1))).image)
    assert made.mode == "RGB"
    assert made.getpixel((700, 700)) == (255, 255, 255)


async def test_a_photo_is_turned_upright():
    exif = Pillow.Exif()
    exif[0x0112] = 6
    data = encoded(Pillow.new("RGB", (4000, 3000)), "JPEG", exif=exif)
    picture = await pictures.fit(data)
    assert (picture.width, picture.height) == (1176, 1568)


def bomb(width, height):
    """A small PNG that says it is very large."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(chunk, (b"IHDR", b"IDAT", b"IEND"), (head, zlib.compress(b"\0"), b"")))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


async def test_a_bomb_is_refused_without_being_decoded():
    with pytest.raises(BrokenPicture, match="60000x60000 pixels"):
        await pictures.fit(bomb(60000, 60000))


async def test_a_bomb_inside_another_size_is_refused():
    """The header that is read first and the one that the decoder goes by may differ."""
    gif = bytearray(plain(10, 10, "GIF"))
    gif[6:10] = struct.pack("<HH", 65535, 65535)
    with pytest.raises(BrokenPicture):
        await pictures.fit(bytes(gif))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is no PNG, JPEG, GIF or WebP picture"),
        (b"BM" + b"\0" * 60, "is no PNG"),
        (b"\x89PNG\r\n\x1a\n", "is not whole"),
        (bomb(0, 5), "has no size"),
        (plain().replace(b"IDAT", b"IDAU"), "is damaged"),
    ],
)
async def test_what_cannot_be_shown_is_refused_with_the_reason(data, reason):
    with pytest.raises(BrokenPicture, match=reason):
        await pictures.fit(data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
async def test_a_part_of_a_picture_is_refused(kind, part):
    data = noise(60, 60, kind)
    with pytest.raises(BrokenPicture):
        await pictures.fit(data[: int(len(data) * part)])


async def test_damage_that_only_the_decoder_finds_is_refused_too():
    data = bytearray(noise(2000, 50, "JPEG"))
    start = data.index(b"\xff\xda") + 20
    data[start : start + 4000] = b"\xff\xc4" * 2000
    with pytest.raises(BrokenPicture, match="cannot be decoded"):
        await pictures.fit(bytes(data))


@pytest.mark.parametrize("kind", KINDS)
@given(change=st.data())
def test_no_damage_has_another_outcome_than_a_picture_or_a_refusal(kind, change):
    data = bytearray(plain(30, 20, kind))
    for _ in range(change.draw(st.integers(1, 4))):
        data[change.draw(st.integers(0, len(data) - 1))] = change.draw(st.integers(0, 255))
    cut = change.draw(st.integers(1, len(data)))
    with suppress(BrokenPicture):
        found = asyncio.run(pictures.fit(bytes(data[:cut])))
        assert max(found.width, found.height) <= pictures.MAX_SIDE


@given(
    st.binary(max_size=200),
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP", b""]),
)
def test_any_bytes_have_an_outline_or_a_reason(data, head):
    with suppress(BrokenPicture):
        found = outline(head + data)
        assert found.width > 0 < found.height


@pytest.mark.parametrize(
    "write",
    [
        in_base64,
        lambda data: base64.urlsafe_b64encode(data).decode(),
        lambda data: in_base64(data).rstrip("="),
        lambda data: base64.encodebytes(data).decode(),
        lambda data: "data:image/png;base64," + in_base64(data),
    ],
    ids=["plain", "for addresses", "unpadded", "in lines", "data URL"],
)
@pytest.mark.parametrize("size", [1, 600_001])
async def test_base64_is_taken_in_every_form_that_editors_send(write, size):
    data = noise(size, 1)[:size]
    assert await pictures.from_base64(write(data)) == data


@pytest.mark.parametrize("text", ["äöü", "%%%%", "a", "\ud83d"])
async def test_what_is_no_base64_is_refused(text):
    with pytest.raises(BrokenPicture, match="base64"):
        await pictures.from_base64(text)


def test_a_small_picture_needs_no_imaging_library():
    code = (
        "import asyncio, sys; from hermes_acp.local import pictures; "
        f"asyncio.run(pictures.fit({plain(300, 200)!r})); sys.exit('PIL' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=20).returncode == 0


async def test_the_loop_goes_on_while_a_large_picture_is_worked_on():
    working = asyncio.create_task(pictures.fit(plain(4000, 4000)))
    turns = 0
    while not working.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert working.result().width == pictures.MAX_SIDE
    assert turns > 5
