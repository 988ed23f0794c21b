"""Subagents: what they are given, what is shown of them, whose rules they follow, and how they end."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.model_table import Prices
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.priced import Priced
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.subagents import WITHHELD
from hermes_acp.errors import ProviderError, ToolError, TurnCancelled
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
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from hermes_acp.testing import RecordingHost


def call(name, call_id="c", **arguments):
    return ToolCall(call_id, name, arguments)


def calls(*of):
    return AssistantMessage(tool_calls=of)


def goal_of(request):
    """The goal that a request's conversation began with; "" for the parent's."""
    return request.messages[0].text.partition("# Task\n")[2].partition("\n")[0]


class ByGoal:
    """Plays each agent by a script of its own, however their requests interleave; the parent's goal is ""."""

    name = model = "by goal"

    def __init__(self, **scripts):
        self.scripts = {goal: Scripted(*replies) for goal, replies in scripts.items()}

    def stream(self, request):
        return self.scripts[goal_of(request) or "parent"].stream(request)

    def requests(self, goal):
        return self.scripts[goal].requests


def delegate(*goals, **more):
    return calls(call("delegate_task", "d", tasks=[{"goal": goal} for goal in goals], **more))


async def run(scene, provider, host=None):
    scene.agent = replace(scene.agent, provider=provider)
    return await run_turn(scene.agent, scene.talk, user("go"), host or scene.host)


def result_of(provider):
    return provider.requests("parent")[1].messages[-1]


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


async def test_each_has_a_budget_of_its_own(scene):
    scene.agent = replace(scene.agent, max_subagent_calls=2)
    look = calls(call("list_files", "l"))
    provider = ByGoal(
        parent=[delegate("a"), AssistantMessage("ok")],
        a=[look, replace(look, tool_calls=(call("list_files", "l2"),)), AssistantMessage("Half of it.")],
    )
    result = await run(scene, provider)
    assert result.api_calls == 2
    assert (
        result_of(provider).text
        == "It used up what it may, with 3 model calls, before it was done, and says:\nHalf of it."
    )
    assert provider.requests("a")[-1].tool_choice == "none"


async def test_what_they_use_counts_into_the_turn(scene):
    def reply(text, tokens):
        return Reply(AssistantMessage(text), "stop", Usage(tokens, 1))

    parent = Reply(delegate("a", "b"), "tool_calls", Usage(100, 10))
    broken = [Reply(calls(call("list_files", "l")), "tool_calls", Usage(7, 1)), ProviderError("x", kind="server")]
    provider = ByGoal(parent=[parent, reply("ok", 200)], a=[reply("done", 5)], b=broken)
    result = await run(scene, provider)
    assert result.usage == Usage(100 + 200 + 5 + 7, 10 + 1 + 1 + 1)
    provider = ByGoal(parent=[reply("ok", 3)])
    assert (await run(scene, provider)).usage == Usage(3, 1)


DOLLAR_A_MILLION = Prices(input=((0, 1.0),), output=((0, 0.0),))


def costing(dollars, message):
    finish = "tool_calls" if message.tool_calls else "stop"
    return Reply(message, finish, Usage(int(1_000_000 * dollars), 0))


async def test_what_they_cost_counts_into_the_limit_of_the_turn(scene):
    scene.agent = replace(scene.agent, max_cost=3.0)
    provider = ByGoal(
        parent=[costing(0.5, delegate("a", "b")), costing(0.1, AssistantMessage("All."))],
        a=[costing(1.0, AssistantMessage("done"))],
        b=[costing(1.5, AssistantMessage("done"))],
    )
    result = await run(scene, Priced(provider, DOLLAR_A_MILLION))
    assert result.stop == "max_turn_requests"
    assert provider.requests("parent")[1].tool_choice == "none"
    assert scene.talk.cost == pytest.approx(3.1)


async def test_they_share_what_is_left_of_the_limit_of_the_turn(scene):
    a_has_answered = asyncio.Event()

    class AfterA(ByGoal):
        async def stream(self, request):
            goal = goal_of(request)
            if goal == "b":
                await a_has_answered.wait()
            async for delta in super().stream(request):
                yield delta
                if goal == "a":
                    asyncio.get_running_loop().call_later(0.01, a_has_answered.set)

    scene.agent = replace(scene.agent, max_cost=3.0)
    look = calls(call("list_files", "l"))
    provider = AfterA(
        parent=[costing(2.0, delegate("a", "b")), costing(0.0, AssistantMessage("All."))],
        a=[costing(0.5, AssistantMessage("done"))],
        b=[costing(0.5, look), costing(0.0, AssistantMessage("Half of it."))],
    )
    result = await run(scene, Priced(provider, DOLLAR_A_MILLION))
    assert [request.tool_choice for request in provider.requests("b")] == ["auto", "none"]
    assert "before it was done, and says:\nHalf of it." in result_of(provider).text
    assert (result.stop, scene.talk.cost) == ("max_turn_requests", pytest.approx(3.0))


async def test_none_begins_when_the_turn_may_cost_no_more(scene):
    scene.agent = replace(scene.agent, max_cost=3.0)
    provider = ByGoal(parent=[costing(3.0, delegate("a")), AssistantMessage("All.")], a=[AssistantMessage("done")])
    await run(scene, Priced(provider, DOLLAR_A_MILLION))
    assert provider.requests("a") == []
    assert result_of(provider).text == (
        "It was not begun, since the turn may cost no more: 3.00 of 3.00 US dollars are spent."
    )


async def test_the_next_turn_has_a_purse_of_its_own(scene):
    scene.agent = replace(scene.agent, max_cost=3.0)
    turn = [costing(2.0, delegate("a")), costing(0.0, AssistantMessage("All."))]
    provider = ByGoal(parent=turn * 2, a=[costing(0.5, AssistantMessage("done"))] * 2)
    priced = Priced(provider, DOLLAR_A_MILLION)
    assert [(await run(scene, priced)).stop for _ in range(2)] == ["end_turn", "end_turn"]


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


async def test_an_answer_that_ends_the_turn_ends_all_of_it(scene, tmp_path):
    scripts = {goal: [calls(call("terminal", "t", command=f"touch {goal}"))] for goal in "ab"}
    provider = ByGoal(parent=[delegate("a", "b")], **scripts)
    with pytest.raises(TurnCancelled):
        await run(scene, provider, host := RecordingHost("cancelled"))
    assert len(host.requests) == 1
    assert sorted(event.call_id for event in host.of(ToolFinished)) == ["d", "d.1.t", "d.2.t"]
    assert list(tmp_path.iterdir()) == []


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
