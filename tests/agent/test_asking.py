"""Calls that need a yes: what is asked, and that only what was agreed to happens."""

import pytest

from hermes_acp.agent.history import INTERRUPTED, find_disorder
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import TurnCancelled
from hermes_acp.events import ToolFinished, ToolPrepared, ToolStarted
from hermes_acp.messages import AssistantMessage, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.registry import discover
from tests.support.turns import agent, call, calls, kept


async def test_an_edit_asks_with_its_diff_and_then_happens(talk, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    host = RecordingHost("allow_once")
    reply = calls(call("patch", "1", path="a.txt", old_text="two", new_text="three"))
    await run_turn(agent(reply, AssistantMessage("done")), talk, user("go"), host)
    [request] = host.requests
    assert [(diff.old_text, diff.new_text) for diff in request.diffs] == [("one\ntwo\n", "one\nthree\n")]
    assert (tmp_path / "a.txt").read_text() == "one\nthree\n"
    order = [type(event) for event in host.events if isinstance(event, ToolPrepared | ToolStarted | ToolFinished)]
    assert order == [ToolPrepared, ToolStarted, ToolFinished]


async def test_a_rejected_edit_does_not_happen_and_stays_rejected_for_the_turn(talk, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    host = RecordingHost("reject_once")
    patch = call("patch", "1", path="a.txt", old_text="one", new_text="two")
    write = call("write_file", "2", path="a.txt", content="two\n")
    scripted = Scripted(calls(patch), calls(write), AssistantMessage("ok"))
    result = await run_turn(agent(provider=scripted), talk, user("go"), host)
    assert result.stop == "end_turn"
    assert (tmp_path / "a.txt").read_text() == "one\n"
    assert len(host.requests) == 1
    assert "rejected" in scripted.requests[1].messages[-1].text


async def test_a_file_that_changed_while_the_question_was_open_is_not_written(talk, tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("one\n")

    def decide(request):
        target.write_text("one changed by someone else\n")
        return "allow_once"

    reply = calls(call("patch", "1", path="a.txt", old_text="one", new_text="two"))
    host = RecordingHost(decide)
    await run_turn(agent(reply, AssistantMessage("ok")), talk, user("go"), host)
    assert target.read_text() == "one changed by someone else\n"
    assert host.of(ToolFinished)[0].result.is_error


async def test_cancelled_as_answer_ends_the_turn_and_runs_no_sibling(talk, tmp_path, store):
    host = RecordingHost("cancelled")
    reply = calls(*(call("terminal", str(n), command=f"touch made{n}") for n in range(3)))
    with pytest.raises(TurnCancelled):
        await run_turn(agent(reply), talk, user("go"), host)
    assert len(host.requests) == 1
    assert list(tmp_path.iterdir()) == []
    assert [event.result.is_error for event in host.of(ToolFinished)] == [True, True, True]
    assert find_disorder(await kept(store)) is None
    assert talk.messages[-1] == INTERRUPTED


async def test_nobody_to_ask_means_nothing_runs(talk, tmp_path):
    host = RecordingHost("unavailable")
    await run_turn(
        agent(calls(call("terminal", "1", command="touch x")), AssistantMessage("ok")), talk, user("go"), host
    )
    assert list(tmp_path.iterdir()) == []
    assert "could not be asked" in host.of(ToolFinished)[0].result.text


async def test_plan_mode_offers_and_runs_nothing_that_changes(talk, tmp_path):
    talk.approvals.mode = "plan"
    host = RecordingHost()
    scripted = Scripted(
        calls(call("write_file", "1", path="x", content="y"), call("terminal", "2", command="touch z")),
        AssistantMessage("ok"),
    )
    await run_turn(agent(provider=scripted), talk, user("go"), host)
    assert list(tmp_path.iterdir()) == []
    assert host.requests == []
    effects = {tool.name: tool.effect for tool in discover().values()}
    assert {effects[tool["name"]] for tool in scripted.requests[0].tools} == {"read"}


async def test_a_mode_set_while_a_question_is_open_holds_for_the_answer(talk, tmp_path):
    def decide(request):
        talk.approvals.mode = "plan"
        return "allow_once"

    host = RecordingHost(decide)
    reply = calls(call("write_file", "1", path="a", content="x"), call("write_file", "2", path="b", content="x"))
    await run_turn(agent(reply, AssistantMessage("ok")), talk, user("go"), host)
    assert list(tmp_path.iterdir()) == []
    assert ["plan mode" in event.result.text for event in host.of(ToolFinished)] == [True, True]


async def test_always_on_listing_a_folder_does_not_open_what_is_in_it(talk, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.txt").write_text("TOPSECRET\n")
    host = RecordingHost("allow_always")
    listing, search = (
        call("list_files", "1", path=str(outside)),
        call("search_files", "2", path=str(outside), pattern="."),
    )
    again = call("list_files", "3", path=str(outside))
    await run_turn(agent(calls(listing), calls(search), calls(again), AssistantMessage("ok")), talk, user("go"), host)
    assert [request.tool for request in host.requests] == ["list_files", "search_files"]
