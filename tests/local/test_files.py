"""Reading files: only regular ones, only as much as was asked for."""

from __future__ import annotations

import os
import resource
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.local import files
from hermes_acp.workspace import MAX_FILE_BYTES

GIB = 1024 * 1024 * 1024


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(b"first\nsecond\n")
        file.truncate(3 * GIB)
    return path


@pytest.mark.parametrize("read", [files.read, lambda path: files.read_lines(path, 1, 10, 1000)])
@pytest.mark.parametrize("special", ["pipe", "socket", "folder", "device"])
def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path: Path, special: str, read) -> None:
    path = tmp_path / "it"
    if special == "pipe":
        os.mkfifo(path)
    elif special == "folder":
        path.mkdir()
    elif special == "device":
        path = Path("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        if special == "socket":
            server.bind(str(path))
        with pytest.raises(ToolError, match=r"regular file|folder"):
            read(path)


def test_a_file_above_the_cap_is_refused_without_reading_it_all(sparse: Path) -> None:
    with pytest.raises(ToolError, match="larger than 10 MiB"):
        files.read(sparse)


def test_a_file_that_claims_no_size_is_read_by_its_content() -> None:
    assert files.read(Path(f"/proc/{os.getpid()}/status")).startswith(b"Name:")


def test_three_sparse_gibibytes_are_passed_in_constant_memory(sparse: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert files.read_lines(sparse, 1, 2, 1000).data == b"first\nsecond\n"
    past = files.read_lines(sparse, 9, 1, 1000)
    assert past.data == b""
    assert past.total == 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_a_long_read_stops_when_told(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"x" * 5_000_000)
    asked = iter([False, False, True])
    assert files.read_lines(path, 9, 1, 1000, lambda: next(asked)).data == b""


def test_a_line_of_two_megabytes_is_cut_at_the_byte_cap(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(b"[" + b"1," * 1_000_000 + b"1]\nnext\n")
    assert len(files.read_lines(path, 1, 10, 5_000).data) == 5_000
    assert files.read_lines(path, 1, 10, 5_000).more
    assert files.read_lines(path, 2, 10, 5_000).data == b"next\n"


@given(data=st.binary(max_size=200), first=st.integers(1, 8), count=st.integers(1, 8), most=st.integers(1, 100))
def test_a_range_is_what_splitting_the_whole_file_gives(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, first: int, count: int, most: int
) -> None:
    path = tmp_path_factory.mktemp("range") / "f"
    data = data.replace(b"\x01", b"\n")
    path.write_bytes(data)
    whole = [line + b"\n" for line in data.split(b"\n")]
    whole[-1] = whole[-1][:-1]
    rows = [row for row in whole if row]
    got = files.read_lines(path, first, count, most)
    assert got.data == b"".join(rows[first - 1 : first - 1 + count])[:most]
    assert got.more == (b"".join(rows[first - 1 :]) != got.data)
    assert got.total == (None if got.more else len(rows))


def test_the_cap_is_the_one_of_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * MAX_FILE_BYTES)
    assert len(files.read(path)) == MAX_FILE_BYTES


def test_a_folder_swapped_for_a_link_after_it_was_judged_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/f").write_text("secret")
    (tmp_path / "judged").symlink_to("secret")
    with pytest.raises(ToolError):
        files.read(tmp_path / "judged/f")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("absent", "does not exist"), ("f/x", "not a folder"), ("loop", "link"), ("n" * 300, "too long")],
)
def test_the_reason_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "f").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match=reason):
        files.read(tmp_path / name)


def test_a_pipe_is_neither_folder_nor_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError, match="pipe"):
        files.is_folder(tmp_path / "pipe")
