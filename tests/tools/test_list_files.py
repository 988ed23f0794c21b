"""Listing: folders and files in order, never more than can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from tests.tools.conftest import Call, Prepare


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


async def test_files_and_folders_are_shown_sorted_without_ignored_and_hidden_ones(call: Call, folder: Path) -> None:
    make(
        folder,
        "README.md",
        "src/app.py",
        "src/a b.py",
        "node_modules/x.js",
        ".git/config",
        ".env",
        "src/deep/er/est/x.py",
    )
    (folder / ".gitignore").write_text("node_modules\n")
    assert (await call("list_files")).text.split("\n") == [
        "README.md", "src/", "src/a b.py", "src/app.py", "src/deep/", "src/deep/er/ (1 file)"
    ]  # fmt: skip
    assert ".env" in (await call("list_files", hidden=True)).text.split("\n")
    assert ".git/" not in (await call("list_files", hidden=True)).text


async def test_depth_and_path_choose_what_is_shown(call: Call, folder: Path) -> None:
    make(folder, "a/b/c/d.txt", "a/x.txt", "z.txt")
    assert (await call("list_files", depth=1)).text == "a/ (2 files)\nz.txt"
    assert (await call("list_files", path="a", depth=9)).text == "b/\nb/c/\nb/c/d.txt\nx.txt"


async def test_a_glob_finds_at_any_depth(call: Call, folder: Path) -> None:
    make(folder, "a/b/c/d/e/test_x.py", "test_y.py", "other.txt")
    found = (await call("list_files", glob="test_*.py")).text.split("\n")
    assert [name for name in found if not name.endswith("/")] == ["a/b/c/d/e/test_x.py", "test_y.py"]


async def test_a_big_tree_is_shown_less_deeply_before_it_is_cut(call: Call, folder: Path) -> None:
    make(folder, *(f"d{one}/e{two}/f{three}.txt" for one in range(5) for two in range(5) for three in range(20)))
    shown = (await call("list_files", limit=100)).text.split("\n")
    assert "d0/e0/ (20 files)" in shown
    assert len(shown) <= 101
    assert "2 of the levels" in shown[-1]
    cut = (await call("list_files", limit=3)).text.split("\n")
    assert cut[:3] == ["d0/ (100 files)", "d1/ (100 files)", "d2/ (100 files)"]
    assert "2 more entries" in cut[3]


async def test_an_empty_folder_is_said_to_be_empty(call: Call, folder: Path) -> None:
    assert "no files" in (await call("list_files")).text


async def test_strange_names_are_shown_safely(call: Call, folder: Path) -> None:
    for name in (b"caf\xe9", "50% é".encode(), b"-rf", b"two\nlines"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("")
    text = (await call("list_files")).text
    text.encode("utf-8")
    assert {"caf\ufffd", "50% é", "-rf"} <= set(text.split("\n"))


async def test_a_file_is_not_a_folder(call: Call, folder: Path) -> None:
    make(folder, "f.txt")
    with pytest.raises(ToolError, match="read_file"):
        await call("list_files", path="f.txt")
    with pytest.raises(ToolError, match="does not exist"):
        await call("list_files", path="nowhere")


async def test_a_wrong_glob_is_answered_in_words(call: Call, folder: Path) -> None:
    make(folder, "f.txt")
    with pytest.raises(ToolError, match="glob"):
        await call("list_files", glob="a[")


async def test_links_are_not_followed_out_of_the_folder(call: Call, folder: Path) -> None:
    (folder.parent / "outside").mkdir()
    make(folder.parent, "outside/secret.txt")
    (folder / "link").symlink_to("../outside")
    assert "secret" not in (await call("list_files", depth=5)).text


async def test_the_title_names_the_folder(prepare: Prepare, folder: Path) -> None:
    make(folder, "src/a.py")
    assert (await prepare("list_files")).title == "List the session's folder"
    assert (await prepare("list_files", path="src", glob="*.py")).title == "List src (*.py)"
