"""Searching: what people expect to be searched, and bounded whatever the pattern."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from tests.tools.conftest import Call, Prepare


@pytest.fixture
def project(folder: Path) -> Path:
    for name, text in {
        "src/app.py": "def main():\n    pass  # TODO\n",
        "src/50% é.py": "x = 'TODO'\n",
        "node_modules/lib.js": "TODO\n",
        ".hidden/x": "TODO\n",
        ".git/config": "TODO\n",
        ".gitignore": "node_modules\n",
        "-rf": "TODO dash\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.usefixtures("project")
async def test_matches_come_as_path_line_text_sorted_without_ignored_and_hidden_files(call: Call) -> None:
    result = await call("search_files", pattern="TODO")
    assert result.text.split("\n") == ["-rf:1:TODO dash", "src/50% é.py:1:x = 'TODO'", "src/app.py:2:    pass  # TODO"]
    assert [place.line for place in result.locations] == [1, 1, 2]


async def test_hidden_files_only_when_asked_and_never_gits_own(call: Call, project: Path) -> None:
    found = (await call("search_files", pattern="TODO", hidden=True)).text
    assert ".hidden/x:1:TODO" in found
    assert ".git/config" not in found
    assert (await call("search_files", pattern="TODO", path="node_modules")).text == "node_modules/lib.js:1:TODO"


@pytest.mark.parametrize(
    ("path", "glob", "found"),
    [
        ("src", "", ["src/50% é.py", "src/app.py"]),
        ("src/app.py", "", ["src/app.py"]),
        ("-rf", "", ["-rf"]),
        (".", "src/a*.py", ["src/app.py"]),
        ("src", "a*.py", ["src/app.py"]),
        (".", "!*.py", ["-rf"]),
        ("", "", ["-rf", "src/50% é.py", "src/app.py"]),
    ],
)
async def test_path_and_glob_narrow_the_search(
    call: Call, project: Path, path: str, glob: str, found: list[str]
) -> None:
    lines = (await call("search_files", pattern="TODO", path=path, glob=glob)).text.split("\n")
    assert [line.split(":")[0] for line in lines] == found


async def test_a_folder_outside_is_named_in_full_and_judged_by_its_path(prepare: Prepare, folder: Path) -> None:
    (folder.parent / "other").mkdir()
    (folder.parent / "other/f").write_text("needle")
    action = await prepare("search_files", pattern="needle", path="../other")
    assert action.paths == (folder.parent / "other",)
    assert (await action.run()).text == f"{folder.parent}/other/f:1:needle"


@pytest.mark.parametrize(
    ("pattern", "message"), [("(", "unclosed group"), ("a{1", "repetition"), ("[z-a]", "range"), ("(?P<", "group")]
)
async def test_a_wrong_pattern_is_answered_in_ripgreps_words(
    call: Call, project: Path, pattern: str, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await call("search_files", pattern=pattern)


@pytest.mark.parametrize("pattern", ["-e", "--pre=./evil.sh", "--files", "-rf"])
async def test_a_pattern_like_an_option_is_a_pattern(call: Call, folder: Path, pattern: str) -> None:
    (folder / "f").write_text(f"x {pattern} y\n")
    assert (await call("search_files", pattern=pattern)).text == f"f:1:x {pattern} y"


async def test_a_pattern_that_explodes_elsewhere_is_quick(call: Call, folder: Path) -> None:
    (folder / "r.txt").write_text("a" * 44 + "!\n")
    found = await asyncio.wait_for(call("search_files", pattern="(a+)+$"), 3)
    assert "No matches" in found.text


async def test_results_are_capped_in_number_and_width(call: Call, folder: Path) -> None:
    (folder / "wide.js").write_text("x" * 3_000_000 + "needle\n")
    (folder / "many.txt").write_text("needle\n" * 5000)
    text = (await call("search_files", pattern="needle")).text
    assert text.count("needle") == 100
    assert "there are more" in text
    assert max(map(len, text.split("\n"))) < 500
    assert len((await call("search_files", pattern="needle", limit=100_000)).text) < 45_000


async def test_lines_around_a_match_are_shown_when_asked(call: Call, folder: Path) -> None:
    (folder / "f").write_text("a\nb\nc\nd\n")
    assert (await call("search_files", pattern="b", context=1)).text == "f:1-a\nf:2:b\nf:3-c"


async def test_a_pattern_over_several_lines_works(call: Call, folder: Path) -> None:
    (folder / "f").write_text("one\ntwo\n")
    for pattern in (r"one\ntwo", "one\ntwo"):
        assert (await call("search_files", pattern=pattern)).text == "f:1:one\nf:2:two"


async def test_names_and_lines_that_are_not_utf8_are_shown(call: Call, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_bytes(b"th\xe9 needle\r\n")
    found = (await call("search_files", pattern="needle")).text
    assert found == "caf\ufffd.txt:1:th\ufffd needle"


async def test_no_match_and_a_missing_folder_are_told_apart(call: Call, project: Path) -> None:
    assert "No matches" in (await call("search_files", pattern="zzz")).text
    with pytest.raises(ToolError, match="does not exist"):
        await call("search_files", pattern="zzz", path="nowhere")


async def test_a_pipe_is_not_searched(call: Call, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(ToolError, match="pipe"):
        await asyncio.wait_for(call("search_files", pattern="x", path="pipe"), 2)
    assert "No matches" in (await asyncio.wait_for(call("search_files", pattern="x"), 2)).text


@pytest.mark.parametrize("pattern", ["", "a\0b", "x" * 5000])
async def test_a_pattern_nobody_can_use_is_refused(call: Call, pattern: str) -> None:
    with pytest.raises(ToolError, match="pattern"):
        await call("search_files", pattern=pattern)


async def test_the_title_says_what_and_where(prepare: Prepare, project: Path) -> None:
    assert (await prepare("search_files", pattern="TODO")).title == 'Search "TODO" in the session\'s folder'
    assert (await prepare("search_files", pattern=r"\d+")).title.startswith(r'Search "\d+" in')
    assert (await prepare("search_files", pattern="a\n\u202eb")).title.startswith(r'Search "a\n\u{202e}b" in')
    assert (await prepare("search_files", pattern="a", path="src", glob="*.py")).title == 'Search "a" in src (*.py)'


@pytest.fixture
def repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", folder], check=True)


@pytest.mark.usefixtures("repository")
async def test_a_git_repository_inside_keeps_its_rules(call: Call, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/.gitignore").write_text("*.log\n")
    (folder / "sub/a.log").write_text("needle")
    (folder / "sub/a.txt").write_text("needle")
    assert (await call("search_files", pattern="needle", path="sub")).text == "sub/a.txt:1:needle"


async def test_secrets_in_a_folder_are_told_only_when_their_file_is_named(call: Call, folder: Path) -> None:
    for name in ("id_rsa", ".env", "app.py"):
        (folder / name).write_text("TOKEN = canary-" + name)
    found = (await call("search_files", pattern="TOKEN", hidden=True)).text
    assert found.split("\n")[0] == "app.py:1:TOKEN = canary-app.py"
    assert "2 lines of files" in found
    assert "canary-.env" not in found
    assert "canary-id_rsa" not in found
    assert (await call("search_files", pattern="TOKEN", path=".env")).text == ".env:1:TOKEN = canary-.env"
