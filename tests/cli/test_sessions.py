"""`hermes-acp sessions`, run as a person runs it: list, show, export and delete what is stored."""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys

import pytest

from hermes_acp.agent.store.changes import FileBefore
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.cards import Diff, ToolResult
from hermes_acp.events import ReasoningDelta, TextDelta, ToolFinished, ToolPrepared, UserPrompted
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from tests.support.editor import agent_env

HOSTILE = "```\n# Not a heading\n<script>alert(1)</script>\n````\n\x1b[31mred\x1b[0m <!-- "
ONE, TWO, OTHER = "aaaa1111-first", "aaaa2222-second", "bbbb3333-other"


async def fill(home, project):
    store = await Store.open(home / "hermes-acp" / "sessions.db")
    for number, (name, folder) in enumerate([(ONE, project), (TWO, project), (OTHER, project / "elsewhere")]):
        record = SessionRecord(name, str(folder), title=f"Title {name}\n\x1b[2J", prompted=True, cost=0.25 * number)
        await store.create(record)
        journal = await store.journal(name)
        journal.begin_turn()
        journal.update(updated_at=f"2026-11-0{number + 1}T10:00:00.000000Z")
        talk(journal, project)
        await journal.commit()
    await store.aclose()


def talk(journal, project):
    call = ToolCall("c1", "write_file", {"path": "new.txt"})
    for message in (user(HOSTILE), AssistantMessage("", tool_calls=(call,)), ToolMessage("c1", "write_file", "made")):
        journal.add_message(message)
    journal.add_message(AssistantMessage(f"Done. {HOSTILE}"))
    journal.keep(FileBefore(project / "new.txt", None, None, None, None, b"new"))
    diff = Diff(str(project / "new.txt"), None, HOSTILE)
    for event in (
        UserPrompted(user(HOSTILE), "m1"),
        ReasoningDelta("A thought.", "m2"),
        ToolPrepared("c1", "write_file", "edit", "Create `new.txt`", {}, (), (diff,)),
        ToolFinished("c1", "write_file", ToolResult("made", diffs=(diff,))),
        TextDelta(f"Done. {HOSTILE}", "m3"),
    ):
        journal.add_event(event)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def filled(home, project):
    (home / "hermes-acp").mkdir(parents=True)
    asyncio.run(fill(home, project))


def sessions(home, cwd, *arguments, stdin=subprocess.DEVNULL):
    command = [sys.executable, "-m", "hermes_acp", "sessions", *arguments]
    done = subprocess.run(command, env=agent_env(home), cwd=cwd, stdin=stdin, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.usefixtures("filled")
def test_listing_shows_the_sessions_of_the_folder_the_last_used_first(home, project):
    status, out, err = sessions(home, project, "list")
    assert (status, err) == (0, "")
    head, *rows = out.splitlines()
    assert head.split() == ["ID", "TITLE", "FOLDER", "LAST", "USED", "TURNS", "COST"]
    assert [row.split()[0] for row in rows] == [TWO, ONE]
    assert rows[0].endswith("1      $0.2500")
    assert "\x1b" not in out
    status, out, _ = sessions(home, "/", "list", "--all", "--limit", "2")
    assert [row.split()[0] for row in out.splitlines()[1:]] == [OTHER, TWO]
    assert OTHER in sessions(home, "/", "list", "--cwd", str(project / "elsewhere"))[1]
    assert "There are no sessions in /" in sessions(home, "/", "list")[1]


@pytest.mark.usefixtures("filled")
def test_showing_takes_the_beginning_of_an_id_and_lists_what_was_changed(home, project):
    status, out, err = sessions(home, "/", "show", "aaaa1")
    assert (status, err) == (0, "")
    assert f"Session   {ONE}" in out
    assert "> # Not a heading" in out
    assert "A thought." in out
    assert "* Create `new.txt`\n    --- /dev/null\n    +++ b/new.txt\n    @@ -0,0 +1," in out
    assert f"turn 1: created {project / 'new.txt'}" in out
    assert "\x1b" not in out


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("command", ["show", "export", "delete"])
@pytest.mark.parametrize(("name", "reason"), [("zzzz", "no session"), ("aaaa", "2 sessions begin"), ("", "no session")])
def test_an_id_that_names_none_or_several_is_one_clear_line(home, command, name, reason):
    status, out, err = sessions(home, "/", command, name, *(["--yes"] if command == "delete" else []))
    assert (status, out) == (1, "")
    assert reason in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("filled")
def test_json_holds_all_of_it(home, project):
    status, out, _ = sessions(home, "/", "export", ONE)
    whole = json.loads(out)
    assert status == 0
    assert whole["session"]["id"] == ONE
    assert [message["role"] for message in whole["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert [entry["kind"] for entry in whole["transcript"]] == [
        "user_prompted",
        "reasoning",
        "tool_prepared",
        "tool_finished",
        "text",
    ]
    assert whole["changes"] == [{"turn": 1, "path": str(project / "new.txt"), "kind": "created", "undone": False}]


@pytest.mark.usefixtures("filled")
def test_in_markdown_what_others_wrote_cannot_leave_its_place(home, tmp_path):
    target = tmp_path / "out.md"
    status, out, _ = sessions(home, "/", "export", ONE, "--format", "markdown", "-o", str(target))
    assert (status, out) == (0, "")
    text = target.read_text(encoding="utf-8")
    assert "\x1b" not in text
    headings = [line.split(":")[0] for line in outside_fences(text)]
    assert headings == ["# Session", "## You", "### Thought", "### Tool, done", "## Agent", "## Files changed"]
    assert "<script>" in text


def outside_fences(text):
    """The lines that are headings for a reader of Markdown; raw HTML is there neither."""
    fence, headings = "", []
    for line in text.splitlines():
        ticks = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif ticks:
            fence = ticks[0]
        else:
            assert not line.startswith("<"), line
            headings += [line] if line.startswith("#") else []
    assert not fence
    return headings


@pytest.mark.usefixtures("filled")
def test_a_file_that_cannot_be_written_is_one_clear_line(home):
    status, _, err = sessions(home, "/", "export", ONE, "-o", "/nowhere/out.json")
    assert (status, err) == (1, "hermes-acp: /nowhere/out.json cannot be written: No such file or directory\n")


@pytest.mark.usefixtures("filled")
def test_deleting_asks_nobody_who_is_not_there_and_takes_all_or_nothing(home):
    status, _, err = sessions(home, "/", "delete", ONE)
    assert status == 2
    assert "--yes" in err
    assert sessions(home, "/", "delete", ONE, "zzzz", "--yes")[0] == 1
    assert ONE in sessions(home, "/", "list", "--all")[1]
    assert sessions(home, "/", "delete", ONE, "bbbb", "--yes") == (0, f"Deleted {ONE}\nDeleted {OTHER}\n", "")
    assert [row.split()[0] for row in sessions(home, "/", "list", "--all")[1].splitlines()[1:]] == [TWO]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(("said", "status", "left"), [("y\n", 0, 2), ("n\n", 1, 3), ("\n", 1, 3)])
def test_on_a_terminal_deleting_asks(home, said, status, left):
    here, there = pty.openpty()
    os.write(here, said.encode())
    done = sessions(home, "/", "delete", ONE, stdin=there)
    os.close(here)
    os.close(there)
    assert done[0] == status
    assert "Delete this session for good? [y/N]" in done[1]
    assert len(sessions(home, "/", "list", "--all")[1].splitlines()) == left + 1


def test_without_a_store_there_are_no_sessions_and_none_is_made(home):
    status, out, err = sessions(home, "/", "list", "--all")
    assert (status, out, err) == (0, "There are no sessions.\n", "")
    assert not (home / "hermes-acp").exists()
    assert sessions(home, "/", "show", "x")[0] == 1


@pytest.mark.usefixtures("filled")
def test_a_damaged_store_is_kept_and_named(home):
    database = home / "hermes-acp" / "sessions.db"
    database.write_bytes(b"This is a text.\n" * 500)
    status, out, err = sessions(home, "/", "list", "--all")
    assert (status, out) == (0, "There are no sessions.\n")
    assert "was damaged; it is kept as" in err
    [kept] = database.parent.glob("sessions.db.corrupt-*")
    assert kept.read_bytes() == b"This is a text.\n" * 500


@pytest.mark.parametrize(
    "arguments",
    [["lst"], ["list", "--limit", "0"], ["list", "--limit", "²"], ["list", "--all", "--cwd", "x"], ["show"]],
)
def test_arguments_that_mean_nothing_are_one_line(home, arguments):
    status, out, err = sessions(home, "/", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("hermes-acp: sessions: ")
    assert err.count("\n") == 1
    assert "_count" not in err


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("arguments", [["show", ONE], ["export", ONE], ["list", "--all"]])
def test_a_standard_output_without_room_is_one_clear_line(home, arguments):
    command = [sys.executable, "-m", "hermes_acp", "sessions", *arguments]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, env=agent_env(home), cwd="/", stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b"hermes-acp: the output cannot be written: No space left on device\n"
