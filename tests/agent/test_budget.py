"""What a turn may use, in calls of the model and in dollars, and how it ends when that is gone."""

from hermes_acp.agent.history import find_disorder
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.model_table import Prices
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.priced import Priced
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.errors import ProviderError
from hermes_acp.events import Notice, StatusChanged, TextDelta
from hermes_acp.messages import AssistantMessage, user
from hermes_acp.testing import RecordingHost
from tests.support.turns import agent, call, calls


async def test_the_budget_ends_in_a_summary_without_tools(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    loop = [calls(call("read_file", f"c{n}", path="a")) for n in range(3)]
    scripted = Scripted(*loop, AssistantMessage("I read a three times."))
    result = await run_turn(agent(provider=scripted, max_calls=3), talk, user("go"), RecordingHost())
    assert (result.stop, result.text) == ("max_turn_requests", "I read a three times.")
    last = scripted.requests[-1]
    assert last.tool_choice == "none"
    assert last.tools
    assert find_disorder(talk.messages) is None


async def test_a_budget_that_ends_with_a_failing_model_is_summed_up_without_it(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    loop = [calls(call("read_file", f"c{n}", path="a")) for n in range(2)]
    scripted = Scripted(*loop, ProviderError("down", kind="server"))
    host = RecordingHost()
    result = await run_turn(agent(provider=scripted, max_calls=2), talk, user("go"), host)
    assert result.stop == "max_turn_requests"
    assert "read_file" in result.text
    assert result.text in "".join(delta.text for delta in host.of(TextDelta))
    assert find_disorder(talk.messages) is None


def priced(reply, dollars):
    """A reply that has cost so much, at one dollar a million tokens."""
    return Reply(reply, "tool_calls" if reply.tool_calls else "stop", Usage(input=int(dollars * 1_000_000)), "m")


DOLLAR_A_MILLION = Prices(((0, 1.0),), ((0, 1.0),))


async def test_a_turn_that_has_cost_its_limit_ends_in_a_summary(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    loop = [priced(calls(call("read_file", f"c{n}", path="a")), 0.4) for n in range(5)]
    scripted = Scripted(*loop[:3], priced(AssistantMessage("I read a."), 0.1), AssistantMessage("again"))
    host = RecordingHost()
    spender = agent(provider=Priced(scripted, DOLLAR_A_MILLION), max_cost=1.0)
    result = await run_turn(spender, talk, user("go"), host)
    assert (result.stop, result.text, result.api_calls) == ("max_turn_requests", "I read a.", 4)
    assert scripted.requests[-1].tool_choice == "none"
    assert "1.20 of 1.00 US dollars" in scripted.requests[-1].notes[0]
    assert (await run_turn(spender, talk, user("more"), host)).stop == "end_turn"


async def test_a_limit_of_cost_without_a_price_is_told_once_and_stops_nothing(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    scripted = Scripted(
        priced(calls(call("read_file", "1", path="a")), 9.0), priced(AssistantMessage("ok"), 9.0), AssistantMessage("b")
    )
    host = RecordingHost()
    spender = agent(provider=scripted, max_cost=1.0)
    assert (await run_turn(spender, talk, user("go"), host)).stop == "end_turn"
    assert (await run_turn(spender, talk, user("more"), host)).stop == "end_turn"
    [notice] = host.of(Notice)
    assert "limit of cost does not hold" in notice.title


async def test_each_mark_of_the_budget_is_told_once(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    host = RecordingHost()
    loop = [calls(call("read_file", f"c{n}", path="a")) for n in range(10)]
    await run_turn(agent(*loop, AssistantMessage("ok"), max_calls=10), talk, user("go"), host)
    told = [status.text for status in host.of(StatusChanged) if status.kind == "budget"]
    assert [text.split(" ")[0] for text in told] == ["7", "9", "Used"]
