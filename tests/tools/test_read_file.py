"""Reading for the model: numbered, capped, and never silent about what is not shown."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.tools.registry import discover
from tests.support.pictures import opened, plain
from tests.tools.conftest import Call, Prepare


async def test_lines_are_numbered_from_the_one_asked_for(call: Call, folder: Path) -> None:
    (folder / "a.py").write_bytes(b"one\ntwo\r\n\n\tfour")
    assert (await call("read_file", path="a.py")).text == "     1\tone\n     2\ttwo\n     3\t\n     4\t\tfour"
    part = await call("read_file", path="a.py", offset=2, limit=2)
    assert part.text == "     2\ttwo\n     3\t\n\n[lines 2-3 are shown; read on with offset=4]"
    assert part.locations[0].path == str(folder / "a.py")
    assert part.locations[0].line == 2


async def test_the_title_says_what_is_read(prepare: Prepare, folder: Path) -> None:
    assert (await prepare("read_file", path="src/app.py", offset=10, limit=31)).title == "Read src/app.py (lines 10-40)"
    assert (await prepare("read_file", path=str(folder / "x"))).title == "Read x"
    assert (await prepare("read_file", path="../x")).title == f"Read {folder.parent / 'x'}"
    assert (await prepare("read_file", path="a\u202etxt\nb")).title == r"Read a\u{202e}txt\nb"


async def test_nothing_is_read_before_the_call_was_judged(prepare: Prepare, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    action = await prepare("read_file", path="pipe")
    assert (action.effect, action.paths) == ("read", (folder / "pipe",))


@pytest.mark.parametrize(
    ("data", "offset", "text"),
    [
        (b"", 1, "(the file is empty)"),
        (b"a\nb\n", 3, "(the file has 2 lines; line 3 is past its end)"),
        (b"a\nb", 99, "(the file has 2 lines; line 99 is past its end)"),
        (b"a\n", 0, "     1\ta"),
        (b"a\n", -5, "     1\ta"),
        (b"\n", 1, "     1\t"),
    ],
)
async def test_empty_and_past_the_end_are_said(call: Call, folder: Path, data: bytes, offset: int, text: str) -> None:
    (folder / "f").write_bytes(data)
    assert (await call("read_file", path="f", offset=offset)).text == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfhello\n", "hello"),
        ("héllo 💫\n".encode("utf-16"), "héllo 💫"),
        (b"caf\xe9\n", "café"),
        ("中文\n".encode("gbk"), "中文"),
        (b"\xed\xa0\xb5 half\n", None),
        ("sü\xdf\n".encode() + b"\xff\n", "süß"),
    ],
)
async def test_text_in_other_encodings_is_readable_and_without_its_mark(
    call: Call, folder: Path, data: bytes, text: str | None
) -> None:
    (folder / "f").write_bytes(data)
    read = (await call("read_file", path="f")).text
    read.encode("utf-8")
    assert text is None or read.split("\n")[0] == f"     1\t{text}"


async def test_a_one_line_file_of_two_megabytes_costs_one_short_line(call: Call, folder: Path) -> None:
    (folder / "one.json").write_bytes(b"[" + b"1," * 1_000_000 + b"1]\nnext\n")
    read = (await call("read_file", path="one.json")).text
    assert len(read) < 3_000
    assert "line cut here; it has more than" in read
    assert "offset=2" in read
    assert (await call("read_file", path="one.json", offset=2)).text == "     2\tnext"


async def test_a_long_file_comes_in_parts_that_join_without_a_gap(call: Call, folder: Path) -> None:
    lines = [f"line {number} " + "x" * (number % 300) for number in range(1, 4001)]
    (folder / "long.txt").write_text("\n".join(lines) + "\n")
    got: list[str] = []
    while True:
        read = (await call("read_file", path="long.txt", offset=len(got) + 1)).text
        assert len(read) < 52_000
        body, _, note = read.partition("\n\n[")
        got += [line.split("\t", 1)[1] for line in body.split("\n")]
        if not note:
            break
        assert f"offset={len(got) + 1}]" in note
    assert got == lines


async def test_a_character_at_the_byte_cap_is_not_halved(call: Call, folder: Path) -> None:
    (folder / "wide").write_text("\n".join(["é" * 999] * 300), encoding="utf-8")
    assert "\ufffd" not in (await call("read_file", path="wide")).text


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + b"x" * 50, b"text\n\0\n", b"%PDF-1.4\n", b"\x7fELF"])
async def test_a_binary_file_is_refused(call: Call, folder: Path, data: bytes) -> None:
    (folder / "f").write_bytes(data)
    with pytest.raises(ToolError, match="binary"):
        await call("read_file", path="f")


async def test_a_huge_binary_file_is_refused_at_once(call: Call, folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(3 * 1024**3)
    with pytest.raises(ToolError, match="binary"):
        await asyncio.wait_for(call("read_file", path="huge"), 2)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_is_shown_whatever_its_name_with_its_size_in_words(call: Call, folder: Path, kind: str) -> None:
    data = plain(40, 30, kind)
    (folder / "picture.txt").write_bytes(data)
    result = await call("read_file", path="picture.txt", offset=7)
    [image] = result.images
    assert base64.b64decode(image.data) == data
    assert image.mime_type == f"image/{kind.lower()}"
    assert "40x30 pixels" in result.text
    assert f"{len(data)} bytes" in result.text
    assert result.locations[0].path == str(folder / "picture.txt")


async def test_a_large_picture_is_scaled_down_and_both_sizes_are_told(call: Call, folder: Path) -> None:
    (folder / "large.png").write_bytes(plain(3000, 2000))
    result = await call("read_file", path="large.png")
    assert opened(result.images[0]).size == (1568, 1045)
    assert "3000x2000 pixels, shown here as 1568x1045" in result.text


async def test_a_picture_too_large_to_be_read_is_refused_with_the_reason(call: Call, folder: Path) -> None:
    with (folder / "huge.png").open("wb") as file:
        file.write(plain())
        file.truncate(3 * 1024**3)
    with pytest.raises(ToolError, match="larger than 24 MiB"):
        await asyncio.wait_for(call("read_file", path="huge.png"), 5)


async def test_a_sound_file_is_no_picture(call: Call, folder: Path) -> None:
    (folder / "a.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0")
    with pytest.raises(ToolError, match="binary file"):
        await call("read_file", path="a.wav")


@pytest.mark.parametrize("special", ["pipe", "folder", "/dev/zero"])
async def test_special_files_are_refused_and_nothing_hangs(call: Call, folder: Path, special: str) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    with pytest.raises(ToolError, match=r"regular file|list_files"):
        await asyncio.wait_for(call("read_file", path=special), 2)


async def test_a_missing_file_is_answered_with_names_that_may_be_meant(call: Call, folder: Path) -> None:
    (folder / "src").mkdir()
    for name in ("src/app.py", "README.md", "settings.toml"):
        (folder / name).write_text("")
    for wrong, right in (("src/ap.py", "src/app.py"), ("app.py", "src/app.py"), ("readme.md", "README.md")):
        with pytest.raises(ToolError, match=right):
            await call("read_file", path=wrong)
    with pytest.raises(ToolError, match="list_files"):
        await call("read_file", path="nothing/like/it.xyz")


async def test_a_link_that_leads_elsewhere_than_when_it_was_judged_is_refused(prepare: Prepare, folder: Path) -> None:
    (folder / "harmless").write_text("fine")
    (folder.parent / "secret").write_text("secret")
    (folder / "link").symlink_to("harmless")
    action = await prepare("read_file", path="link")
    assert action.paths == (folder / "harmless",)
    (folder / "link").unlink()
    (folder / "link").symlink_to("../secret")
    with pytest.raises(ToolError, match="leads to"):
        await action.run()


async def test_a_name_that_is_not_utf8_is_shown_and_found_by_what_is_shown(call: Call, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("inside")
    listed = (await call("list_files")).text
    assert listed == "caf\ufffd.txt"
    read = await call("read_file", path=listed)
    assert read.text == "     1\tinside"
    assert read.locations[0].path.encode().endswith("caf\ufffd.txt".encode())


def test_its_paths_are_known_from_its_arguments_alone(folder: Path) -> None:
    from hermes_acp.local.workspace import LocalWorkspace

    tool = discover()["read_file"]
    assert tool.paths(tool.params(path="a/../b"), LocalWorkspace(folder)) == (folder / "b",)


async def test_an_absurd_offset_stays_within_what_the_wire_can_say(call: Call, folder: Path) -> None:
    (folder / "a").write_text("x\n")
    result = await call("read_file", path="a", offset=10**15, limit=10**15)
    assert "past its end" in result.text
    assert result.locations[0].line == 2**32 - 1
