"""Background commands as the model handles them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.tools.approval import Approvals
from tests.tools.conftest import Call, Prepare


async def test_a_background_command_returns_at_once_and_is_looked_at_waited_for_and_ended(
    call: Call, folder: Path
) -> None:
    started = await call("terminal", command="echo up; while ! [ -e go ]; do sleep 0.02; done; exit 4", background=True)
    assert started.text.startswith("p1 runs in the background")
    assert started.raw == {"id": "p1"}
    polled = await call("process", action="poll", id="p1")
    assert "[p1: running for 0 s]" in polled.text
    (folder / "go").touch()
    waited = await call("process", action="wait", id="p1", timeout=10)
    assert waited.text.startswith("up\n[p1: ended after ")
    assert waited.text.endswith("exit code 4]")
    assert waited.raw is not None
    assert waited.raw["exit_code"] == 4


async def test_waiting_shows_what_is_written_meanwhile_and_ends_in_time(call: Call, folder: Path) -> None:
    await call("terminal", command="while ! [ -e go ]; do sleep 0.02; done; echo new; sleep 300", background=True)
    (folder / "go").touch()
    shown: list[str] = []
    waited = await call("process", shown.append, action="wait", id="p1", timeout=0.8)
    assert waited.text.startswith("new\n[p1: running")
    assert shown == ["new\n"]


async def test_ending_one_names_the_signal_and_leaves_the_others(call: Call) -> None:
    for seconds in ("300", "301"):
        await call("terminal", command=f"sleep {seconds}", background=True)
    killed = await call("process", action="kill", id="p1")
    assert "killed by signal 15 (SIGTERM)" in killed.text
    listed = (await call("process", action="list")).text.splitlines()
    assert [row.partition(" (")[0] for row in listed] == ["p1: sleep 300", "p2: sleep 301"]
    assert "ended" in listed[0]
    assert "running" in listed[1]


async def test_one_that_cannot_work_is_told_of_at_once(call: Call) -> None:
    result = await call("terminal", command="no-such-program-here", background=True)
    assert result.is_error
    assert "not found" in result.text
    assert "exit code 127" in result.text


async def test_an_unknown_id_is_answered_with_the_known_ones(call: Call) -> None:
    with pytest.raises(ToolError, match="No background command was started"):
        await call("process", action="poll", id="p1")
    await call("terminal", command="sleep 300", background=True)
    for action in ("poll", "wait", "kill"):
        with pytest.raises(ToolError, match=r"'7'.*p1 \(sleep 300\)"):
            await call("process", action=action, id=7)
    assert "No background" not in (await call("process")).text


async def test_starting_asks_ending_does_not_and_in_plan_mode_only_looking_is_left(prepare: Prepare) -> None:
    start = await prepare("terminal", command="sleep 300", background=True)
    assert (start.title, start.effect, start.command) == ("In the background: sleep 300", "execute", "sleep 300")
    await start.run()
    roots = (Path("/"),)
    for mode, action, decision in [
        ("ask", "kill", "allow"),
        ("plan", "kill", "deny"),
        ("plan", "poll", "allow"),
        ("plan", "list", "allow"),
    ]:
        made = await prepare("process", action=action, id="p1")
        assert Approvals(mode).judge("process", made, roots).decision == decision
    assert Approvals("ask").judge("terminal", start, roots).decision == "ask"


async def test_the_title_tells_which_command_and_hides_nothing(prepare: Prepare) -> None:
    await (await prepare("terminal", command="sleep 300 # \u202e", background=True)).run()
    assert (await prepare("process", action="kill", id="p1")).title == r"End p1 (sleep 300 # \u{202e})"
    assert (await prepare("process", action="kill", id="p\n9")).title == r"End p\n9"


async def test_polling_a_talkative_command_costs_little(call: Call) -> None:
    await call("terminal", command="seq 1 100000", background=True)
    text = (await call("process", action="wait", id="p1")).text
    assert text.startswith("1\n2\n")
    assert "\n100000\n[p1: ended" in text
    assert len(text) < 9_000
