"""The calls of a reply: in which order they run, and that each has its one end and its result."""

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.providers.base import Reply
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.events import ToolDrafted, ToolFinished, ToolPrepared
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.registry import discover
from tests.support.turns import agent, call, calls, system


async def test_parallel_reads_end_in_any_order_and_go_back_in_call_order(talk, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"file {name}\n")
    reply = calls(*(call("read_file", f"call_{name}", path=name) for name in ("a", "b", "c")))
    host = RecordingHost()
    scripted = Scripted(reply, AssistantMessage("done"))
    await run_turn(agent(provider=scripted), talk, user("go"), host)
    assert host.requests == []
    results = [message for message in scripted.requests[1].messages if isinstance(message, ToolMessage)]
    assert [result.call_id for result in results] == ["call_a", "call_b", "call_c"]
    assert all(f"file {name}" in result.text for name, result in zip("abc", results, strict=True))


async def test_every_card_is_prepared_once_and_ends_once(talk, tmp_path):
    (tmp_path / "a").write_text("x\n")
    reply = calls(
        call("read_file", "1", path="a"),
        call("no_such_tool", "2"),
        call("read_file", "3", wrong="x"),
        call("read_file", "4", path="missing"),
        ToolCall("5", "read_file", {}, problem="The arguments are not valid JSON"),
    )
    host = RecordingHost()
    await run_turn(agent(reply, AssistantMessage("done")), talk, user("go"), host)
    assert sorted(event.call_id for event in host.of(ToolPrepared)) == ["1", "2", "3", "4", "5"]
    ended = {event.call_id: event.result for event in host.of(ToolFinished)}
    assert len(host.of(ToolFinished)) == 5
    assert [call_id for call_id, result in sorted(ended.items()) if result.is_error] == ["2", "3", "4", "5"]
    assert "no_such_tool" in ended["2"].text
    assert "read_file" in ended["2"].text
    assert "path" in ended["3"].text


async def test_a_crashed_tool_is_an_error_result_without_its_text(talk):
    from dataclasses import replace

    tools = discover()

    async def explode(args, context):
        raise RuntimeError("sk-secret")

    broken = {**tools, "read_file": replace(tools["read_file"], prepare=explode)}
    host = RecordingHost()
    reply = calls(call("read_file", "1", path="a"))
    await run_turn(Agent(Scripted(reply, AssistantMessage("ok")), broken, system), talk, user("go"), host)
    [ended] = host.of(ToolFinished)
    assert ended.result.is_error
    assert "sk-secret" not in ended.result.text


async def test_a_command_beside_an_edit_runs_after_it(talk, tmp_path):
    reply = calls(
        call("write_file", "1", path="a", content="made\n"),
        call("terminal", "2", command="cat a"),
        call("patch", "3", path="a", old_text="made", new_text="changed"),
    )
    host = RecordingHost()
    await run_turn(agent(reply, AssistantMessage("ok")), talk, user("go"), host)
    ended = [event.call_id for event in host.of(ToolFinished)]
    assert ended == ["1", "2", "3"]
    assert "made" in host.of(ToolFinished)[1].result.text
    assert (tmp_path / "a").read_text() == "changed\n"


class Dropping(Scripted):
    """Drafts a call and ends the reply in a way that does not run it."""

    def __init__(self, finish):
        super().__init__()
        self.finish = finish

    async def stream(self, request):
        self.requests.append(request)
        yield ToolDrafted("d1", "terminal")
        yield Reply(calls(call("terminal", "d1", command="touch x")), self.finish)


async def test_a_drafted_call_of_a_refused_reply_has_its_end(talk, tmp_path):
    host = RecordingHost()
    result = await run_turn(agent(provider=Dropping("refusal")), talk, user("go"), host)
    assert result.stop == "refusal"
    assert [event.call_id for event in host.of(ToolFinished)] == ["d1"]
    assert list(tmp_path.iterdir()) == []


async def test_a_drafted_call_in_the_summary_has_its_end(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    provider = Dropping("tool_calls")
    host = RecordingHost()
    result = await run_turn(agent(provider=provider, max_calls=1), talk, user("go"), host)
    assert result.stop == "max_turn_requests"
    assert [event.call_id for event in host.of(ToolFinished)] == ["d1", "d1"]


async def test_a_thousand_calls_in_one_reply_are_capped_and_each_is_answered(talk):
    many = calls(*(call("read_file", f"c{n}", path="missing") for n in range(1000)))
    host = RecordingHost()
    await run_turn(agent(many, AssistantMessage("ok")), talk, user("go"), host)
    assert len(host.of(ToolFinished)) == 1000
    assert "at most" in host.of(ToolFinished)[-1].result.text
    assert find_disorder(talk.messages) is None
