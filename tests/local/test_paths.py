"""Paths: what models write, and names that are not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.local import paths


@given(st.binary(min_size=1).filter(lambda raw: b"\0" not in raw and b"/" not in raw and raw not in (b".", b"..")))
def test_every_name_a_disk_can_hold_is_given_back_byte_for_byte(name: bytes) -> None:
    assert paths.encode(paths.decode(b"/x/" + name)) == b"/x/" + name


def test_a_relative_path_starts_at_the_sessions_folder_not_at_the_processs(tmp_path: Path) -> None:
    assert paths.resolve("src/../a b.md", tmp_path) == tmp_path / "a b.md"


def test_a_home_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.resolve("~/notes.md", Path("/")) == tmp_path / "notes.md"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("My%20Proj%20(1)/50%25%20done.md", "My Proj (1)/50% done.md"),
        ("My Proj (1)/50% done.md", "My Proj (1)/50% done.md"),
        ("%C3%A9.md", "é.md"),
        ("é.md", "é.md"),
        ("c#.md", "c#.md"),
    ],
)
def test_a_file_address_is_decoded_exactly_once(tmp_path: Path, address: str, name: str) -> None:
    assert paths.resolve(f"file://{tmp_path}/{address}", Path("/")) == tmp_path / name


@pytest.mark.parametrize("name", ["50% done.md", "a%20b.md", "c#.md", "é.md", "a b.md", "-rf"])
def test_a_plain_path_is_never_decoded(tmp_path: Path, name: str) -> None:
    assert paths.resolve(name, tmp_path) == tmp_path / name


@pytest.mark.parametrize("link", ["dangling", "folder/new.txt", "folder/../elsewhere"])
def test_a_link_is_followed_to_where_it_really_leads(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "folder").symlink_to(outside)
    wanted = {"dangling": outside / "new", "folder/new.txt": outside / "new.txt"}
    assert paths.resolve(link, inside) == wanted.get(link, tmp_path / "elsewhere")


@pytest.mark.parametrize("written", ["", "a\0b", "file:///tmp/a%00b"])
def test_a_path_no_file_can_have_is_refused(written: str) -> None:
    with pytest.raises(ToolError):
        paths.resolve(written, Path("/"))


def test_a_lone_surrogate_in_a_path_does_not_raise(tmp_path: Path) -> None:
    assert paths.encode(paths.resolve("a\ud835.txt", tmp_path)).endswith("a\ufffd.txt".encode())


def test_a_name_shown_with_a_replacement_character_leads_back_to_its_file(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(raw)).write_text("x")
    assert paths.encode(paths.resolve("caf\ufffd.txt", tmp_path)) == raw


def test_of_two_names_shown_alike_none_is_guessed(tmp_path: Path) -> None:
    for name in (b"caf\xe9.txt", b"caf\xe8.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
    assert not os.path.lexists(paths.encode(paths.resolve("caf\ufffd.txt", tmp_path)))


def test_inside_compares_whole_names() -> None:
    assert paths.inside(Path("/a/b"), (Path("/a"),))
    assert paths.inside(Path("/a"), (Path("/a"),))
    assert not paths.inside(Path("/ab"), (Path("/a"),))
