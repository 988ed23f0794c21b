"""Subagents follow the session's mode and answers, and one question is open at a time."""

import asyncio
from dataclasses import replace

import pytest

from hermes_acp.errors import TurnCancelled
from hermes_acp.events import ToolFinished
from hermes_acp.messages import AssistantMessage, ToolMessage
from hermes_acp.testing import RecordingHost
from tests.support.subagents import ByGoal, delegate, run
from tests.support.turns import call, calls


async def test_one_question_is_open_at_a_time_and_each_is_marked(scene):
    open_now, most, titles = [0], [0], []

    class Slow(RecordingHost):
        async def approve(self, request):
            open_now[0] += 1
            most[0] = max(most[0], open_now[0])
            titles.append((request.call_id, request.title))
            await asyncio.sleep(0.01)
            open_now[0] -= 1
            return await super().approve(request)

    scripts = {goal: [calls(call("terminal", "t", command=f"touch {goal}")), AssistantMessage("ran")] for goal in "abc"}
    provider = ByGoal(parent=[delegate(*"abc"), AssistantMessage("ok")], **scripts)
    await run(scene, provider, Slow())
    assert most == [1]
    assert sorted(call_id for call_id, _ in titles) == ["d.1.t", "d.2.t", "d.3.t"]
    assert sorted(title[:4] for _, title in titles) == ["[1] ", "[2] ", "[3] "]


async def test_the_sessions_mode_and_answers_are_the_ceiling(scene, tmp_path):
    scene.talk.approvals.mode = "plan"
    write = calls(call("write_file", "w", path="made", content="x"))
    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[write, AssistantMessage("could not")])
    await run(scene, provider)
    assert list(tmp_path.iterdir()) == []
    assert "write_file" not in {tool["name"] for tool in provider.requests("a")[0].tools}
    assert scene.host.requests == []


async def test_a_mode_that_changes_in_between_holds_at_once(scene, tmp_path):
    def tighten(request):
        scene.talk.approvals.mode = "plan"
        return calls(call("write_file", "w2", path="made2", content="x"))

    first = calls(call("write_file", "w", path="made", content="x"))
    scene.talk.approvals.mode = "accept_edits"
    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[first, tighten, AssistantMessage("done")])
    await run(scene, provider)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


async def test_what_was_rejected_stays_so_for_the_turn_in_every_agent_of_it(scene, tmp_path):
    write = call("write_file", "w", path="made", content="x")
    provider = ByGoal(
        parent=[calls(write), delegate("a"), calls(replace(write, id="w3")), AssistantMessage("ok")],
        a=[calls(replace(write, id="w2")), AssistantMessage("no")],
    )
    host = RecordingHost("reject_once")
    await run(scene, provider, host)
    assert [request.call_id for request in host.requests] == ["w"]
    assert list(tmp_path.iterdir()) == []
    provider = ByGoal(parent=[calls(replace(write, id="w4")), AssistantMessage("ok")])
    await run(scene, provider, host)
    assert len(host.requests) == 2


async def test_two_that_edit_one_file_do_not_overwrite_each_other(scene, tmp_path):
    """Each has read the file before either writes; the second to write is refused and told why."""
    target = tmp_path / "x"
    target.write_text("one\n")
    scene.talk.approvals.mode = "accept_edits"
    workspace, writers, both = scene.talk.workspace, [], asyncio.Event()
    real = workspace.write

    async def write(path, data, *, replacing):
        writers.append(path)
        if len(writers) == 2:
            both.set()
        await both.wait()
        return await real(path, data, replacing=replacing)

    workspace.write = write
    scripts = {
        goal: [calls(call("patch", "p", path="x", old_text="one", new_text=goal)), AssistantMessage("edited")]
        for goal in ("two", "three")
    }
    provider = ByGoal(parent=[delegate("two", "three"), AssistantMessage("ok")], **scripts)
    async with asyncio.timeout(3):
        await run(scene, provider)
    results = [
        message
        for goal in ("two", "three")
        for message in provider.requests(goal)[1].messages
        if isinstance(message, ToolMessage)
    ]
    assert sorted(result.is_error for result in results) == [False, True]
    assert target.read_text() in ("two\n", "three\n")
    winner = next(goal for goal, result in zip(("two", "three"), results, strict=True) if not result.is_error)
    assert target.read_text() == f"{winner}\n"


async def test_an_answer_that_ends_the_turn_ends_all_of_it(scene, tmp_path):
    scripts = {goal: [calls(call("terminal", "t", command=f"touch {goal}"))] for goal in "ab"}
    provider = ByGoal(parent=[delegate("a", "b")], **scripts)
    with pytest.raises(TurnCancelled):
        await run(scene, provider, host := RecordingHost("cancelled"))
    assert len(host.requests) == 1
    assert sorted(event.call_id for event in host.of(ToolFinished)) == ["d", "d.1.t", "d.2.t"]
    assert list(tmp_path.iterdir()) == []
