"""Writing whole files: what was there is shown, and its form is kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from tests.tools.conftest import Call, Prepare


async def test_a_new_file_is_shown_as_new_and_gets_its_folders(call: Call, folder: Path) -> None:
    result = await call("write_file", path="a b/é/new.txt", content="one\ntwo\n")
    written = folder / "a b/é/new.txt"
    assert written.read_bytes() == b"one\ntwo\n"
    [diff] = result.diffs
    assert (diff.path, diff.old_text, diff.new_text) == (str(written), None, "one\ntwo\n")


async def test_an_existing_file_is_shown_with_its_real_old_text(prepare: Prepare, folder: Path) -> None:
    old = "".join(f"line {number}\n" for number in range(50))
    (folder / "f").write_text(old)
    action = await prepare("write_file", path="f", content=old.replace("line 7\n", "LINE 7\n"))
    assert (folder / "f").read_text() == old
    assert (action.title, action.effect) == ("Write f", "edit")
    assert action.diffs[0].old_text == old
    assert action.locations[0].line == 8
    result = await action.run()
    assert result.diffs == action.diffs
    assert (folder / "f").read_text() == action.diffs[0].new_text


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (b"\xef\xbb\xbfhello\n", "hello2\n", b"\xef\xbb\xbfhello2\n"),
        (b"\xef\xbb\xbfhello\n", "\ufeffhello2\n", b"\xef\xbb\xbfhello2\n"),
        (b"a\r\nb\r\n", "a\nB\nc\n", b"a\r\nB\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nC\nd\n", b"a\r\nb\nC\r\nd\r\n"),
        (b"a\rb\r", "a\nc\n", b"a\rc\r"),
        (b"a\nb\n", "a\r\nc\r\n", b"a\nc\n"),
        (b"caf\xe9\n", "café é\n", b"caf\xe9 \xe9\n"),
        ("hi\r\n".encode("utf-16"), "hü\n", "hü\r\n".encode("utf-16")),
        (b"", "a\r\nb", b"a\r\nb"),
        (b"a", "a\r\nb", b"a\r\nb"),
        (b"a\n", "", b""),
        (b"a\n", "no end", b"no end"),
    ],
)
async def test_byte_order_mark_encoding_and_line_ends_are_kept(
    call: Call, folder: Path, old: bytes, content: str, new: bytes
) -> None:
    (folder / "f").write_bytes(old)
    await call("write_file", path="f", content=content)
    assert (folder / "f").read_bytes() == new


async def test_what_the_old_encoding_cannot_say_is_written_as_utf8_and_said(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"caf\xe9\n")
    assert "UTF-8" in (await call("write_file", path="f", content="café →\n")).text
    assert (folder / "f").read_bytes() == "café →\n".encode()


async def test_the_same_content_is_not_written_again(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_bytes(b"same\r\n")
    before = (folder / "f").stat()
    action = await prepare("write_file", path="f", content="same\n")
    assert action.effect == "read"
    result = await action.run()
    assert "already" in result.text
    assert result.diffs == ()
    assert (folder / "f").stat() == before


async def test_mode_is_kept_and_a_link_stays_a_link(call: Call, folder: Path) -> None:
    (folder / "target.sh").write_text("old")
    (folder / "target.sh").chmod(0o755)
    (folder / "link.sh").symlink_to("target.sh")
    result = await call("write_file", path="link.sh", content="new")
    assert (folder / "link.sh").is_symlink()
    assert (folder / "target.sh").read_text() == "new"
    assert stat.S_IMODE((folder / "target.sh").stat().st_mode) == 0o755
    assert result.diffs[0].path == str(folder / "target.sh")


async def test_a_dangling_link_is_judged_by_where_it_leads(prepare: Prepare, folder: Path) -> None:
    (folder / "dangling").symlink_to("../outside.txt")
    action = await prepare("write_file", path="dangling", content="x")
    assert action.paths == (folder.parent / "outside.txt",)
    assert str(folder.parent) in action.title
    assert not (folder.parent / "outside.txt").exists()


async def test_a_folder_swapped_for_a_link_while_the_person_is_asked_is_refused(prepare: Prepare, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d/x.txt").write_text("old")
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("keep")
    action = await prepare("write_file", path="d/x.txt", content="new")
    (folder / "d").rename(folder / "d0")
    (folder / "d").symlink_to(outside)
    with pytest.raises(ToolError, match="leads to"):
        await action.run()
    assert (outside / "x.txt").read_text() == "keep"


async def test_a_change_while_the_person_is_asked_is_not_overwritten(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_text("old")
    action = await prepare("write_file", path="f", content="new")
    (folder / "f").write_text("edited meanwhile")
    with pytest.raises(ToolError, match="changed"):
        await action.run()
    assert (folder / "f").read_text() == "edited meanwhile"


async def test_a_file_made_while_the_person_is_asked_is_not_overwritten(prepare: Prepare, folder: Path) -> None:
    action = await prepare("write_file", path="f", content="new")
    (folder / "f").write_text("theirs")
    with pytest.raises(ToolError, match="exists"):
        await action.run()
    assert (folder / "f").read_text() == "theirs"


async def test_what_somebody_else_wrote_since_the_model_read_it_is_kept(call: Call, folder: Path) -> None:
    (folder / "r.txt").write_text("base\n")
    await call("read_file", path="r.txt")
    (folder / "r.txt").write_text("base\nuser edit\n")
    with pytest.raises(ToolError, match="changed"):
        await call("write_file", path="r.txt", content="agent\n")
    assert "user edit" in (folder / "r.txt").read_text()
    await call("read_file", path="r.txt")
    await call("write_file", path="r.txt", content="agent\n")
    assert (folder / "r.txt").read_text() == "agent\n"


@pytest.mark.parametrize(
    ("path", "reason"), [("d", "folder"), ("new/", "folder"), ("bin", "binary"), ("f/x", "folder")]
)
async def test_what_cannot_be_written_is_refused_as_a_read_and_shows_no_diff(
    prepare: Prepare, folder: Path, path: str, reason: str
) -> None:
    (folder / "d").mkdir()
    (folder / "f").write_text("")
    (folder / "bin").write_bytes(b"\0\1")
    action = await prepare("write_file", path=path, content="x")
    if path != "f/x":
        assert (action.effect, action.diffs) == ("read", ())
    with pytest.raises(ToolError, match=reason):
        await action.run()
    assert (folder / "bin").read_bytes() == b"\0\1"


async def test_no_surrogate_and_no_crash_reach_the_disk(call: Call, folder: Path) -> None:
    await call("write_file", path="a\ud835.txt", content="half \ud83d")
    assert (folder / "a\ufffd.txt").read_bytes() == "half \ufffd".encode()


async def test_the_diff_of_a_crlf_file_shows_the_line_ends_that_are_written(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\r\nb\r\n")
    action = await prepare("write_file", path="f", content="a\nc\n")
    await action.run()
    assert action.diffs[0].new_text.encode() == (folder / "f").read_bytes() == b"a\r\nc\r\n"
