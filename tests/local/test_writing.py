"""Writing files: whole or not at all, and only the content changes."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local.files import explained
from hermes_acp.local.writing import write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f.txt"
    path.write_bytes(b"old")
    return path


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_has_the_mode_that_umask_leaves_and_its_folders(tmp_path: Path) -> None:
    write(tmp_path / "a b/ü/n.txt", b"x", None)
    (tmp_path / "plain").write_bytes(b"")
    made = tmp_path / "a b/ü/n.txt"
    assert made.read_bytes() == b"x"
    assert made.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert made.stat().st_nlink == 1
    assert names(made.parent) == ["n.txt"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o4755])
def test_mode_and_attributes_are_kept(file: Path, mode: int) -> None:
    os.setxattr(file, "user.origin", b"somewhere")
    file.chmod(mode)
    write(file, b"new", b"old")
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert os.getxattr(file, "user.origin") == b"somewhere"
    assert names(file.parent) == ["f.txt"]


def test_the_owner_is_kept(file: Path) -> None:
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    owner = file.stat().st_uid, file.stat().st_gid
    write(file, b"new", b"old")
    assert (file.stat().st_uid, file.stat().st_gid) == owner


def test_another_hard_link_keeps_what_it_had(file: Path) -> None:
    other = file.parent / "other"
    os.link(file, other)
    write(file, b"new", b"old")
    assert (file.read_bytes(), other.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("now", [b"old2", b"OLD", b""])
def test_a_file_that_changed_since_is_refused_and_left(file: Path, now: bytes) -> None:
    file.write_bytes(now)
    with pytest.raises(ToolError, match="changed"):
        write(file, b"new", b"old")
    assert file.read_bytes() == now
    assert names(file.parent) == ["f.txt"]


def test_a_change_during_the_write_itself_is_still_seen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    safely = os.fsync

    def late(descriptor: int) -> None:
        safely(descriptor)
        file.write_bytes(b"somebody else's")

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(ToolError, match="changed"):
        write(file, b"new", b"old")
    assert file.read_bytes() == b"somebody else's"


def test_a_file_that_is_gone_is_not_made_anew(file: Path) -> None:
    file.unlink()
    with pytest.raises(ToolError, match="does not exist"):
        write(file, b"new", b"old")
    assert names(file.parent) == []


def test_a_file_that_appeared_meanwhile_is_not_overwritten(file: Path) -> None:
    with pytest.raises(ToolError, match="exists already"):
        write(file, b"new", None)
    assert file.read_bytes() == b"old"
    assert names(file.parent) == ["f.txt"]


def test_a_dangling_link_is_no_way_to_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolError):
        write(tmp_path / "link", b"x", None)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_swapped_for_a_link_after_it_was_judged_is_refused(tmp_path: Path) -> None:
    for folder in ("inside", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_bytes(b"old")
    (tmp_path / "inside").rename(tmp_path / "moved")
    (tmp_path / "inside").symlink_to("outside")
    with pytest.raises(ToolError):
        write(tmp_path / "inside/x.txt", b"new", b"old")
    with pytest.raises(ToolError):
        write(tmp_path / "inside/new.txt", b"new", None)
    assert names(tmp_path / "outside") == ["x.txt"]
    assert (tmp_path / "outside/x.txt").read_bytes() == b"old"


def test_a_file_marked_read_only_is_left(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(ToolError, match="read-only"):
        write(file, b"new", b"old")
    assert file.read_bytes() == b"old"


def test_a_file_in_the_way_of_a_folder_is_named(file: Path) -> None:
    with pytest.raises(ToolError, match="not a folder"):
        write(file / "sub/n.txt", b"x", None)


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EPERM, errno.EXDEV])
def test_where_no_file_can_take_the_name_the_content_is_changed_in_place(
    file: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """As with a single file that is mounted into a container."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "rename", refuse)
    inode = file.stat().st_ino
    write(file, b"longer than before", b"old")
    assert (file.read_bytes(), file.stat().st_ino) == (b"longer than before", inode)
    write(file, b"short", b"longer than before")
    assert file.read_bytes() == b"short"
    with pytest.raises(ToolError, match="changed"):
        write(file, b"new", b"old")
    os.link(file, file.parent / "other")
    with pytest.raises(ToolError, match="hard links"):
        write(file, b"new", b"short")
    assert names(file.parent) == ["f.txt", "other"]


def test_where_there_are_no_hard_links_a_new_file_still_replaces_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    write(file.parent / "new", b"x", None)
    assert (file.parent / "new").read_bytes() == b"x"
    with pytest.raises(ToolError, match="exists already"):
        write(file, b"x", None)
    assert file.read_bytes() == b"old"
    assert names(file.parent) == ["f.txt", "new"]


def test_a_full_disk_costs_nothing_of_the_old_content(file: Path) -> None:
    script = """
        import resource, signal, sys
        from pathlib import Path
        from hermes_acp.errors import ToolError
        from hermes_acp.local.writing import write
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for path, old in ((Path(sys.argv[1]), b"old"), (Path(sys.argv[1] + ".new"), None)):
            try:
                write(path, b"x" * 5000, old)
            except ToolError as error:
                continue
            sys.exit("written")
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(file)], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert file.read_bytes() == b"old"
    assert names(file.parent) == ["f.txt"]


def test_a_full_disk_is_called_that(file: Path) -> None:
    with pytest.raises(ToolError, match="no space"), explained(file):
        raise OSError(errno.ENOSPC, "No space left on device")
