"""Subagents: what they are given, what is shown of them, and how they end."""

import asyncio
from contextlib import suppress

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.providers.base import Reply
from hermes_acp.agent.subagents import WITHHELD
from hermes_acp.errors import ProviderError, ToolError
from hermes_acp.events import (
    Notice,
    PlanChanged,
    StepFinished,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
    UserPrompted,
)
from hermes_acp.messages import AssistantMessage
from hermes_acp.testing import RecordingHost
from tests.support.subagents import ByGoal, delegate, goal_of, result_of, run
from tests.support.turns import call, calls


async def test_a_subagent_sees_its_goal_and_context_and_answers_with_its_last_message(scene):
    task = calls(call("delegate_task", "d", goal="count", context="in a.txt"))
    provider = ByGoal(parent=[task, AssistantMessage("Thanks.")], count=[AssistantMessage("There are seven.")])
    assert (await run(scene, provider)).text == "Thanks."
    [asked] = provider.requests("count")
    assert [type(message).__name__ for message in asked.messages] == ["UserMessage"]
    assert asked.messages[0].text.endswith("# Task\ncount\n\n# Context\nin a.txt")
    assert asked.system == "You are a test."
    names = {tool["name"] for tool in asked.tools}
    assert {"read_file", "patch", "terminal", "todo", "session_search"} <= names
    assert not names & WITHHELD - {"todo"}
    assert result_of(provider).text == "There are seven."


async def test_three_run_at_once_and_their_results_keep_their_order(scene):
    started, everyone = [], asyncio.Event()

    class Meeting(ByGoal):
        async def stream(self, request):
            if goal := goal_of(request):
                started.append(goal)
                if len(started) == 3:
                    everyone.set()
                await everyone.wait()
            async for delta in super().stream(request):
                yield delta

    scripts = {goal: [AssistantMessage(f"{goal} done")] for goal in "abc"}
    provider = Meeting(parent=[delegate(*"abc"), AssistantMessage("ok")], **scripts)
    async with asyncio.timeout(2):
        await run(scene, provider)
    assert result_of(provider).text == "## [1] a\na done\n\n## [2] b\nb done\n\n## [3] c\nc done"


async def test_their_cards_are_marked_and_only_what_they_do_is_shown_and_kept(scene, tmp_path):
    (tmp_path / "x").write_text("words\n")
    todos = [{"id": "1", "content": "mine"}]
    busy = [calls(call("read_file", "same", path="x"), call("todo", "t", todos=todos)), AssistantMessage("Read it.")]
    provider = ByGoal(parent=[delegate("a", "b"), AssistantMessage("ok")], a=busy, b=list(busy))
    await run(scene, provider)
    host = scene.host
    titles = {event.call_id: event.title for event in host.of(ToolPrepared)}
    assert titles["d.1.same"].startswith("[1] ")
    assert titles["d.2.same"].startswith("[2] ")
    ended = [event.call_id for event in host.of(ToolFinished)]
    assert sorted(ended) == ["d", "d.1.same", "d.1.t", "d.2.same", "d.2.t"]
    assert host.of(PlanChanged) == []
    assert "".join(delta.text for delta in host.of(TextDelta)) == "ok"
    assert len(host.of(StepFinished)) == 2
    outputs = [event.text for event in host.of(ToolOutput) if event.call_id == "d"]
    assert outputs[-1] == "[1] Read it.\n\n[2] Read it."
    kept = await scene.store.events("s")
    assert [type(event) for event in kept].count(UserPrompted) == 1
    assert sorted(event.call_id for event in kept if isinstance(event, ToolFinished)) == sorted(ended)
    assert [event.text for event in kept if isinstance(event, TextDelta)] == ["ok"]
    said = [stored.message for stored in await scene.store.messages("s")]
    assert said == scene.talk.messages
    assert find_disorder(said) is None
    assert await scene.store.plan("s") == ()


async def test_a_card_of_a_subagent_ends_only_after_its_end_is_stored(scene, tmp_path):
    (tmp_path / "x").write_text("words\n")
    journal, unstored = scene.talk.journal, []

    class Watching(RecordingHost):
        def emit(self, event):
            if isinstance(event, ToolFinished):
                unstored.append(not journal.settled)
            super().emit(event)

    provider = ByGoal(
        parent=[delegate("a"), AssistantMessage("ok")],
        a=[calls(call("read_file", "1", path="x")), AssistantMessage("Read.")],
    )
    await run(scene, provider, Watching())
    assert unstored == [False, False]


async def test_a_failure_is_told_plainly_and_does_not_touch_the_others(scene):
    failing = ProviderError("The server is on fire.", kind="server")
    provider = ByGoal(parent=[delegate("a", "b"), AssistantMessage("ok")], a=[failing], b=[AssistantMessage("fine")])
    await run(scene, provider)
    result = result_of(provider)
    assert result.text == "## [1] a\nIt failed: The server is on fire.\n\n## [2] b\nfine"
    assert not result.is_error
    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[failing])
    await run(scene, provider)
    assert [event.result.is_error for event in scene.host.of(ToolFinished)] == [False, True]


async def test_a_fault_of_ours_is_an_ending_too(scene):
    def broken(request):
        raise RuntimeError("a bug")

    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[broken])
    await run(scene, provider)
    assert "internal error (RuntimeError)" in result_of(provider).text


async def test_a_cancel_ends_them_all_with_their_commands_and_every_card_once(scene):
    scripts = {goal: [calls(call("terminal", "t", command="sleep 30"))] for goal in "abc"}
    provider = ByGoal(parent=[delegate(*"abc")], **scripts)
    turn = asyncio.create_task(run(scene, provider))
    async with asyncio.timeout(5):
        while len([event for event in scene.host.of(ToolStarted) if ".t" in event.call_id]) < 3:
            await asyncio.sleep(0.01)
        turn.cancel()
        with suppress(asyncio.CancelledError):
            await turn
    assert turn.cancelled()
    ended = [event.call_id for event in scene.host.of(ToolFinished)]
    assert sorted(ended) == ["d", "d.1.t", "d.2.t", "d.3.t"]
    assert all(event.result.is_error for event in scene.host.of(ToolFinished))
    assert ended[-1] == "d"
    assert find_disorder(scene.talk.messages) is None


async def test_a_notice_of_a_subagent_is_marked(scene):
    told = [Notice("warning", "Slow", "The server is slow."), Reply(AssistantMessage("done"), "stop")]
    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[told])
    await run(scene, provider)
    assert scene.host.of(Notice) == [Notice("warning", "[1] Slow", "The server is slow.")]


async def test_the_shown_words_are_bounded(scene):
    provider = ByGoal(parent=[delegate("a"), AssistantMessage("ok")], a=[AssistantMessage("word " * 3_000)])
    await run(scene, provider)
    assert max(len(event.text) for event in scene.host.of(ToolOutput)) < 2_100
    assert len(result_of(provider).text) <= 12_000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "no goal"),
        ({"goal": "  "}, "no goal"),
        ({"tasks": [{"goal": "x"}] * 4}, "at most 3"),
        ({"tasks": [{"goal": "x"}, {"context": "y"}]}, "Task 2 has no goal"),
        ({"goal": "x", "tasks": [{"goal": "y"}]}, "not both"),
        ({"goal": "x", "context": "y" * 20_000}, "20000"),
    ],
)
async def test_what_cannot_be_given_away_is_told(scene, arguments, told):
    with pytest.raises(ToolError, match=told):
        await scene.call("delegate_task", **arguments)
