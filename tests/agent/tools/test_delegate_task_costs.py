"""What subagents may use, and that it counts into the turn."""

import asyncio
from dataclasses import replace

import pytest

from hermes_acp.agent.model_table import Prices
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.priced import Priced
from hermes_acp.errors import ProviderError
from hermes_acp.messages import AssistantMessage
from tests.support.subagents import ByGoal, delegate, goal_of, result_of, run
from tests.support.turns import call, calls


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
