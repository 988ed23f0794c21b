"""Editing text in place: exactly there, and nowhere else."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.tools.base import ToolContext
from hermes_acp.tools.patch import Patch
from hermes_acp.tools.patch import prepare as prepare_patch
from tests.tools.conftest import Call, Prepare


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\n", "b\nc", "B\nc", b"a\r\nB\r\nc\n"),
        (b"a\r\nb\r\nc\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\r\nc\n"),
        (b"a\nb\r\nc\r\nd\r\n", "a\nb", "A\nx\nb", b"A\nx\r\nb\r\nc\r\nd\r\n"),
        (b"a\r\nb\r\n", "a\nb\n", "a\nnew\nb\n", b"a\r\nnew\r\nb\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny\r\nz", b"x\r\ny\r\nz\r\n"),
        (b"a\nb\n", "a\r\nb", "A\r\nB", b"A\nB\n"),
        (b"a\rb\rc", "a\nb", "a\nx\nb", b"a\rx\rb\rc"),
        (b"a\r\rb\n", "a\n\nb", "c", b"c\n"),
        (b"lone\rcr\nx\n", "x", "y", b"lone\rcr\ny\n"),
        (b"no end", "end", "newline", b"no newline"),
        (b"x\n", "x", "x\n", b"x\n\n"),
        (b"\xef\xbb\xbfhello\n", "hello", "hello2", b"\xef\xbb\xbfhello2\n"),
        (b"\xef\xbb\xbfhello\n", "\ufeffhello", "hello2", b"\xef\xbb\xbfhello2\n"),
        (b"caf\xe9 = 1\n", "1", "2", b"caf\xe9 = 2\n"),
        (b"caf\xe9 = 1\n", "café", "thé", b"th\xe9 = 1\n"),
        (b"alpha\nTM\x99 caf\xe9\n", "alpha", "beta", b"beta\nTM\x99 caf\xe9\n"),
        ("键 = 1\n".encode("gbk"), "1", "二", "键 = 二\n".encode("gbk")),
        ("a\r\nb\r\n".encode("utf-16"), "a\nb", "ü\nb", "ü\r\nb\r\n".encode("utf-16")),
        ("größe ".encode() + b"\xff 1\n", "1", "ü", "größe ".encode() + b"\xff \xc3\xbc\n"),
        (b"foo   bar baz\n", "foo   bar", "XY", b"XY baz\n"),
        (b"one two\n", "one two", r"\1 $& \g<0> $1", rb"\1 $& \g<0> $1" + b"\n"),
        (b"f(a|b)*\n", "(a|b)*", "+", b"f+\n"),
        (b"x = 1\n\n\ny = 2\n", "x = 1\n\n\ny", "y", b"y = 2\n"),
        (b"a\r\nb\n", "\nb", "\nc", b"a\r\nc\n"),
    ],
)
async def test_only_the_bytes_of_the_edit_change(
    call: Call, folder: Path, data: bytes, old: str, new: str, after: bytes
) -> None:
    (folder / "f").write_bytes(data)
    await call("patch", path="f", old_text=old, new_text=new)
    assert (folder / "f").read_bytes() == after


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"aaaa", "aa", "b", b"bb"),
        (b"aaa", "aa", "b", b"ba"),
        (b"a\r\na\na\r", "a\n", "b\n", b"b\r\nb\nb\r"),
        (b"x x", "x", "xx", b"xx xx"),
    ],
)
async def test_every_occurrence_once_from_left_to_right(
    call: Call, folder: Path, data: bytes, old: str, new: str, after: bytes
) -> None:
    (folder / "f").write_bytes(data)
    await call("patch", path="f", old_text=old, new_text=new, replace_all=True)
    assert (folder / "f").read_bytes() == after


async def test_the_diff_is_the_whole_text_before_and_after_and_the_line_is_right(
    prepare: Prepare, folder: Path
) -> None:
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("one\ntwo\nthree\n")
    action = await prepare("patch", path="src/a.py", old_text="two", new_text="2")
    assert (folder / "src/a.py").read_text() == "one\ntwo\nthree\n"
    assert (action.title, action.effect) == ("Edit src/a.py", "edit")
    [diff] = action.diffs
    assert (diff.path, diff.old_text, diff.new_text) == (
        str(folder / "src/a.py"),
        "one\ntwo\nthree\n",
        "one\n2\nthree\n",
    )
    result = await action.run()
    assert (result.diffs, result.locations[0].line) == ((diff,), 2)
    assert "1 replacement, at line 2" in result.text


@pytest.mark.parametrize(
    ("data", "old", "words"),
    [
        (b"x\ny\nx\n", "x", ["2 times", "lines 1, 3"]),
        (b"aaa\n", "aa", ["2 times", "lines 1, 1"]),
        (b"x\n" * 30, "x", ["30 times", "9, 10, …"]),
        (
            b"def f():\n    return 1\n",
            "def f():\n\treturn 1",
            ["line 2", '"    return 1"', r'"\treturn 1"', "white space"],
        ),
        (b"a\nfoo = 1\nbar = 2\nz\n", "foo = 1\nbar = 3", ["line 3", '"bar = 2"', '"bar = 3"']),
        (b"one\ncolour = red\n", "color = red", ["line 2", '"colour = red"']),
        (b"a\nlast\n", "last\nmore", ["begins at line 2", "ends with line 2"]),
        (b"completely different\n", "zzz\nqqq", ["nor anything like it"]),
        (b"foo   bar baz\n", "foo bar", ["line 1", "foo   bar baz"]),
        (b"", "x", ["does not occur"]),
    ],
)
async def test_what_is_not_there_once_is_refused_with_what_is_there(
    prepare: Prepare, folder: Path, data: bytes, old: str, words: list[str]
) -> None:
    (folder / "f").write_bytes(data)
    action = await prepare("patch", path="f", old_text=old, new_text="new")
    with pytest.raises(ToolError) as caught:
        await action.run()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert (action.effect, action.diffs) == ("read", ())
    assert (folder / "f").read_bytes() == data


@pytest.mark.parametrize("old", ["", " ", "\n", "\t \r\n"])
@pytest.mark.parametrize("everywhere", [True, False])
async def test_a_blank_old_text_is_refused(call: Call, folder: Path, old: str, everywhere: bool) -> None:
    (folder / "f").write_bytes(b"a b\n c\n")
    with pytest.raises(ToolError, match="blank"):
        await call("patch", path="f", old_text=old, new_text="x", replace_all=everywhere)
    assert (folder / "f").read_bytes() == b"a b\n c\n"


async def test_an_edit_that_changes_nothing_is_refused(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\n")
    with pytest.raises(ToolError, match="same"):
        await call("patch", path="f", old_text="a", new_text="a")


async def test_a_character_the_file_cannot_hold_is_refused_and_named(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"caf\xe9 = 1\n")
    with pytest.raises(ToolError, match=r"cp1252.*U\+2192"):
        await call("patch", path="f", old_text="1", new_text="→")
    assert (folder / "f").read_bytes() == b"caf\xe9 = 1\n"


@pytest.mark.parametrize("data", [b"a\0b = 1\n", b"\x89PNG 1", b"\xff\xfea\0\x00\xd8"])
async def test_a_file_that_is_no_text_is_refused_and_left(call: Call, folder: Path, data: bytes) -> None:
    (folder / "f").write_bytes(data)
    with pytest.raises(ToolError, match="cannot be edited"):
        await call("patch", path="f", old_text="1", new_text="2")
    assert (folder / "f").read_bytes() == data


async def test_a_missing_file_is_not_made(call: Call, folder: Path) -> None:
    (folder / "app.py").write_text("")
    with pytest.raises(ToolError, match=r"does not exist.*app\.py"):
        await call("patch", path="apq.py", old_text="a", new_text="b")
    assert not (folder / "apq.py").exists()


async def test_nothing_of_a_file_is_told_before_the_reading_of_it_was_judged(prepare: Prepare, folder: Path) -> None:
    secret = folder.parent / "id_rsa"
    secret.write_text("key = CANARY\n")
    action = await prepare("patch", path="../id_rsa", old_text="key = guess", new_text="x")
    assert (action.effect, action.paths) == ("read", (secret,))
    assert "CANARY" not in action.title


async def test_a_change_while_the_person_is_asked_is_not_overwritten(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_text("old")
    action = await prepare("patch", path="f", old_text="old", new_text="new")
    (folder / "f").write_text("old but edited")
    with pytest.raises(ToolError, match="changed"):
        await action.run()
    assert (folder / "f").read_text() == "old but edited"


async def test_two_edits_made_ready_together_do_not_lose_one(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_text("one two")
    first = await prepare("patch", path="f", old_text="one", new_text="1")
    second = await prepare("patch", path="f", old_text="two", new_text="2")
    await first.run()
    with pytest.raises(ToolError, match="changed"):
        await second.run()
    assert (folder / "f").read_text() == "1 two"


async def test_a_huge_old_text_is_matched_quickly(call: Call, folder: Path) -> None:
    text = "".join(f"line {number} é\r\n" for number in range(50_000))
    (folder / "f").write_bytes(text.encode())
    old = text.replace("\r\n", "\n")
    await asyncio.wait_for(call("patch", path="f", old_text=old, new_text=old.replace("line 7 ", "seven ")), 5)
    assert (folder / "f").read_bytes() == text.replace("line 7 ", "seven ").encode()


BREAKS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.lists(st.tuples(st.text("abc é€中 \t", max_size=6), BREAKS), max_size=6).map(
    lambda lines: "".join(line + end for line, end in lines)
)


def patched(data: bytes, old: str, new: str) -> bytes:
    """What is on disk after the tool was called."""

    async def edit(folder: str) -> None:
        context = ToolContext("call_1", LocalWorkspace(Path(folder)))
        action = await prepare_patch(Patch(path="f", old_text=old, new_text=new), context)
        try:
            await action.run()
        except ToolError:
            return

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "f").write_bytes(data)
        asyncio.run(edit(folder))
        assert [entry.name for entry in Path(folder).iterdir()] == ["f"]
        return (Path(folder) / "f").read_bytes()


FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_random_bytes_around_an_edit_stay_or_the_edit_is_refused(before: bytes, after: bytes) -> None:
    data = before + b"<MARKER>" + after
    now = patched(data, "<MARKER>", "<changed>")
    assert now in (data, before + b"<changed>" + after)
    if data.isascii() and b"\0" not in data and not data.startswith((b"GIF8", b"%PDF-", b"PK", b"\x1f", b"\x7f")):
        assert now == before + b"<changed>" + after


@FEW
@given(
    LINES,
    LINES,
    st.lists(st.text("xyz", max_size=4), min_size=1, max_size=4),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030", "cp1252"]),
)
def test_whatever_encoding_and_line_ends_the_bytes_around_an_edit_stay(
    before: str, after: str, new: list[str], encoding: str
) -> None:
    before, after = (text.encode(encoding, "ignore").decode(encoding) for text in (before, after))
    now = patched(f"{before}<OLD>{after}".encode(encoding), "<OLD>", "\n".join(new))
    ends = ("\n", "\r\n", "\r")
    assert now in {f"{before}{end.join(new)}{after}".encode(encoding) for end in ends}


async def test_several_edits_are_one_change_with_one_diff(prepare: Prepare, folder: Path) -> None:
    (folder / "f").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    edits = [{"old_text": "three", "new_text": "3"}, {"old_text": "one", "new_text": "1\n1.5"}]
    action = await prepare("patch", path="f", edits=edits)
    assert len(action.diffs) == 1
    result = await action.run()
    assert (folder / "f").read_bytes() == b"1\r\n1.5\r\ntwo\r\n3\r\n"
    assert "2 replacements, at lines 1, 3" in result.text


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ({"old_text": "nine", "new_text": "9"}, "Edit 2 of 2"),
        ({"old_text": "one\ntwo", "new_text": "12"}, "overlap"),
        ({"old_text": " ", "new_text": "12"}, "Edit 2 of 2: old_text is empty or blank"),
        ({"old_text": "two", "new_text": "two"}, "Edit 2 of 2: .*the same"),
    ],
)
async def test_of_several_edits_all_are_made_or_none(
    call: Call, folder: Path, second: dict[str, str], reason: str
) -> None:
    (folder / "f").write_text("one\ntwo\n")
    with pytest.raises(ToolError, match=reason):
        await call("patch", path="f", edits=[{"old_text": "one", "new_text": "1"}, second])
    assert (folder / "f").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    "written",
    [
        {"edits": '[{"old_text": "one", "new_text": "1"}, {"old_string": "two", "new_string": "2"}]'},
        {"edits": [{"old_text": "one", "new_text": "1"}], "old_text": "two", "new_text": "2"},
        {
            "edits": [{"old_text": "one", "new_text": "1"}, {"old_text": "two", "new_text": "2"}],
            "old_text": "",
            "new_text": "",
        },
    ],
)
async def test_edits_are_understood_in_the_forms_that_models_write(
    call: Call, folder: Path, written: dict[str, object]
) -> None:
    (folder / "f").write_text("one\ntwo\n")
    await call("patch", path="f", **written)
    assert (folder / "f").read_text() == "1\n2\n"


async def test_a_near_match_is_told_as_one(call: Call, folder: Path) -> None:
    (folder / "f").write_text("def f():\n    if x:\n        y()  \n    return\n")
    result = await call("patch", path="f", old_text="if x:\n    y()\n", new_text="if x:\n    z()\n")
    assert (folder / "f").read_text() == "def f():\n    if x:\n        z()\n    return\n"
    assert "Not exactly old_text was found" in result.text
    assert "line 2" in result.text


async def test_a_near_match_that_has_the_new_text_already_is_left_alone(call: Call, folder: Path) -> None:
    (folder / "f").write_text("it’s\n")
    with pytest.raises(ToolError, match="already"):
        await call("patch", path="f", old_text="it's", new_text="it’s")
