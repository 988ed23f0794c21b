"""Where in a call its hooks come: before it is judged, and after it ran, before its result is kept."""

from __future__ import annotations

import asyncio

import pytest

from hermes_acp.agent.loop import run_turn
from hermes_acp.cards import ToolResult
from hermes_acp.events import ToolFinished, ToolStarted
from hermes_acp.hooks import HookedCall
from hermes_acp.messages import AssistantMessage, ToolMessage, user
from hermes_acp.testing import RecordingHost
from tests.support.turns import agent, call, calls, kept


class Recorder:
    """Hooks that write down what they are told, and object to what is to be objected to."""

    def __init__(self, objections=(), wait=None):
        self.told = []
        self.objections, self.wait = objections, wait

    async def before(self, call: HookedCall) -> str:
        self.told.append(("before", call.tool))
        return "not allowed here" if call.tool in self.objections else ""

    async def after(self, call: HookedCall, result: ToolResult, seconds: float) -> None:
        self.told.append(("after", call.tool, result.is_error, call.session_id, call.cwd))
        if self.wait:
            await self.wait.wait()


async def test_a_veto_fails_the_call_before_anyone_is_asked(talk, store):
    hooks, host = Recorder({"terminal"}), RecordingHost()
    first = calls(call("terminal", "c1", command="touch made"), call("read_file", "c2", path="missing"))
    await run_turn(agent(first, AssistantMessage("ok"), hooks=hooks), talk, user("go"), host)
    assert hooks.told == [
        ("before", "terminal"),
        ("before", "read_file"),
        ("after", "read_file", True, "s", str(talk.workspace.cwd)),
    ]
    assert host.requests == []
    vetoed = next(message for message in await kept(store) if isinstance(message, ToolMessage))
    assert (vetoed.text, vetoed.is_error) == ("not allowed here", True)
    assert [event.call_id for event in host.of(ToolStarted)] == ["c2"]
    assert len(host.of(ToolFinished)) == 2
    assert not (talk.workspace.cwd / "made").exists()


async def test_calls_that_cannot_be_made_are_nothing_to_the_hooks(talk):
    hooks = Recorder()
    first = calls(call("no_such_tool", "c1"), call("read_file", "c2"))
    await run_turn(agent(first, AssistantMessage("ok"), hooks=hooks), talk, user("go"), RecordingHost())
    assert hooks.told == []


async def test_a_cancel_while_a_hook_is_told_loses_no_result(talk, store):
    (talk.workspace.cwd / "a.txt").write_text("content\n")
    hooks = Recorder(wait=asyncio.Event())
    turn = asyncio.ensure_future(
        run_turn(agent(calls(call("read_file", "c1", path="a.txt")), hooks=hooks), talk, user("go"), RecordingHost())
    )
    while len(hooks.told) < 2:
        await asyncio.sleep(0.01)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    [result] = [message for message in await kept(store) if isinstance(message, ToolMessage)]
    assert "content" in result.text
    assert not result.is_error
