"""The turn: what the model is sent, what the person sees, what is kept."""

import pytest

from hermes_acp.agent.history import INTERRUPTED
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.providers.base import Reply
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import ProviderError
from hermes_acp.events import PlanChanged, StatusChanged, StepFinished, TextDelta, UserPrompted
from hermes_acp.messages import AssistantMessage, user
from hermes_acp.testing import RecordingHost
from tests.support.turns import agent, call, calls, kept


async def test_an_answer_is_shown_kept_and_returned(talk, store):
    host = RecordingHost()
    result = await run_turn(agent(AssistantMessage("hello there")), talk, user("hi"), host)
    assert (result.stop, result.text, result.api_calls) == ("end_turn", "hello there", 1)
    assert "".join(delta.text for delta in host.of(TextDelta)).strip() == "hello there"
    assert await kept(store) == [user("hi"), AssistantMessage("hello there")]


async def test_the_system_prompt_is_built_once_a_session(talk):
    built = []

    async def build(workspace):
        built.append(workspace)
        return f"prompt {len(built)}"

    provider = Scripted(AssistantMessage("a"), AssistantMessage("b"))
    for text in ("1", "2"):
        await run_turn(Agent(provider, {}, build), talk, user(text), RecordingHost())
    assert [request.system for request in provider.requests] == ["prompt 1", "prompt 1"]


async def test_a_refused_turn_is_left_out_of_the_messages_and_kept_in_the_transcript(talk, store):
    from hermes_acp.agent.providers.base import Reply, new_id

    class Refusing(Scripted):
        async def stream(self, request):
            self.requests.append(request)
            yield TextDelta("I cannot.", new_id("msg"))
            yield Reply(AssistantMessage("I cannot."), "refusal")

    await run_turn(agent(AssistantMessage("first")), talk, user("hi"), RecordingHost())
    result = await run_turn(agent(provider=Refusing()), talk, user("bad"), RecordingHost())
    assert result.stop == "refusal"
    assert await kept(store) == [user("hi"), AssistantMessage("first")] == talk.messages
    assert user("bad") in [event.message for event in await store.events("s") if isinstance(event, UserPrompted)]


async def test_a_failing_model_is_an_error_and_the_history_stays_valid(talk, store):
    broken = Scripted(ProviderError("no", kind="server"))
    with pytest.raises(ProviderError):
        await run_turn(agent(provider=broken), talk, user("hi"), RecordingHost())
    assert await kept(store) == [user("hi"), INTERRUPTED]


async def test_three_useless_replies_in_a_row_end_the_turn(talk):
    useless = [calls(call("no_such_tool", f"c{n}")) for n in range(5)]
    scripted = Scripted(*useless)
    result = await run_turn(agent(provider=scripted), talk, user("go"), RecordingHost())
    assert (result.stop, len(scripted.requests)) == ("partial", 3)


async def test_a_useful_reply_starts_the_count_of_useless_ones_anew(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    useless, useful = calls(call("nope", "u")), calls(call("read_file", "r", path="a"))
    scripted = Scripted(useless, useless, useful, useless, useless, AssistantMessage("ok"))
    assert (await run_turn(agent(provider=scripted), talk, user("go"), RecordingHost())).stop == "end_turn"


async def test_each_step_is_told_with_its_tools(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    host = RecordingHost()
    await run_turn(agent(calls(call("read_file", "1", path="a")), AssistantMessage("ok")), talk, user("go"), host)
    steps = [(step.api_calls, [(tool.name, tool.is_error) for tool in step.tools]) for step in host.of(StepFinished)]
    assert steps == [(1, [("read_file", False)]), (2, [])]
    assert host.of(PlanChanged) == []


async def test_only_an_empty_reply_is_called_empty(talk):
    scripted = Scripted(calls(call("nope", "1")), AssistantMessage(""), AssistantMessage("ok"))
    await run_turn(agent(provider=scripted), talk, user("go"), RecordingHost())
    assert [bool(request.notes) for request in scripted.requests] == [False, False, True]


async def test_an_empty_reply_is_a_step_too(talk):
    host = RecordingHost()
    await run_turn(agent(AssistantMessage(""), AssistantMessage("ok")), talk, user("go"), host)
    assert [step.api_calls for step in host.of(StepFinished)] == [1, 2]


async def test_after_a_retry_the_status_is_thinking_again(talk):
    retry = [StatusChanged("retrying", "busy"), TextDelta("ok", "m"), Reply(AssistantMessage("ok"), "stop")]
    host = RecordingHost()
    await run_turn(agent(retry), talk, user("go"), host)
    assert [status.kind for status in host.of(StatusChanged)] == ["thinking", "retrying", "thinking", "idle"]
