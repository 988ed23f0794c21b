"""The turn: what the model is sent, what the person sees, what is kept."""

import asyncio

import pytest

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.history import INTERRUPTED, find_disorder
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.model_table import Prices
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.priced import Priced
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.errors import ProviderError, StoreError, TurnCancelled
from hermes_acp.events import (
    Notice,
    PlanChanged,
    StatusChanged,
    StepFinished,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolPrepared,
    ToolStarted,
    UserPrompted,
)
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.registry import discover


def call(name, call_id, **arguments):
    return ToolCall(call_id, name, arguments)


def calls(*of):
    return AssistantMessage(tool_calls=of)


async def system(workspace):
    return "You are a test."


@pytest.fixture
async def store():
    store = await Store.open(None)
    yield store
    await store.aclose()


@pytest.fixture
async def talk(store, tmp_path):
    await store.create(SessionRecord(id="s", cwd=str(tmp_path), created_at="2026-01-01", updated_at="2026-01-01"))
    workspace = LocalWorkspace(tmp_path, ())
    yield Conversation("s", workspace, await store.journal("s"), Approvals())
    await workspace.aclose()


def agent(*replies, **settings):
    provider = settings.pop("provider", None) or Scripted(*replies)
    return Agent(provider, discover(), system, **settings)


async def kept(store):
    return [stored.message for stored in await store.messages("s")]


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


async def cancel_when(turn, condition):
    task = asyncio.create_task(turn)
    while not condition() and not task.done():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancel_in_mid_stream_keeps_no_partial_answer_in_the_messages(talk, store):
    host = RecordingHost()
    scripted = Scripted(AssistantMessage("a b c d e f g h"), AssistantMessage("next"), delay=0.05)
    await cancel_when(run_turn(agent(provider=scripted), talk, user("hi"), host), lambda: host.of(TextDelta))
    assert await kept(store) == [user("hi"), INTERRUPTED]
    shown = [event for event in await store.events("s") if isinstance(event, TextDelta)]
    assert "".join(event.text for event in shown) == "".join(event.text for event in host.of(TextDelta))
    result = await run_turn(agent(provider=scripted), talk, user("again"), RecordingHost())
    assert result.text == "next"
    assert find_disorder(scripted.requests[1].messages) is None


async def test_cancel_during_a_question_closes_the_card(talk, store):
    host = RecordingHost(None)
    turn = run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host)
    await cancel_when(turn, host.asked.is_set)
    [ended] = host.of(ToolFinished)
    assert ended.result.is_error
    assert find_disorder(await kept(store)) is None


async def test_cancel_keeps_the_calls_that_had_finished(talk, store, tmp_path):
    (tmp_path / "a").write_text("content of a\n")
    host = RecordingHost()
    reply = calls(call("read_file", "1", path="a"), call("terminal", "2", command="sleep 60"))
    turn = run_turn(agent(reply), talk, user("go"), host)
    await cancel_when(turn, lambda: host.of(ToolFinished) and len(host.of(ToolStarted)) == 2)
    results = {message.call_id: message for message in await kept(store) if isinstance(message, ToolMessage)}
    assert "content of a" in results["1"].text
    assert results["2"].is_error


async def test_a_second_cancel_does_not_lose_the_results(talk, store, tmp_path):
    host = RecordingHost(None)
    task = asyncio.create_task(run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host))
    await host.asked.wait()
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert find_disorder(talk.messages) is None
    assert find_disorder(await kept(store)) is None


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


async def test_each_step_is_told_with_its_tools(talk, tmp_path):
    (tmp_path / "a").write_text("x")
    host = RecordingHost()
    await run_turn(agent(calls(call("read_file", "1", path="a")), AssistantMessage("ok")), talk, user("go"), host)
    steps = [(step.api_calls, [(tool.name, tool.is_error) for tool in step.tools]) for step in host.of(StepFinished)]
    assert steps == [(1, [("read_file", False)]), (2, [])]
    assert host.of(PlanChanged) == []


class FailingJournal:
    """A journal whose disk is full after so many commits."""

    def __init__(self, journal, good):
        self._journal = journal
        self.good = good
        self.commits = 0

    def __getattr__(self, name):
        return getattr(self._journal, name)

    async def commit(self, durable=False):
        self.commits += 1
        if self.commits > self.good:
            raise StoreError("disk full")
        await self._journal.commit(durable)


async def test_a_cancel_is_a_cancel_also_when_the_store_fails(talk):
    talk.journal = FailingJournal(talk.journal, good=2)
    host = RecordingHost(None)
    turn = run_turn(agent(calls(call("terminal", "1", command="touch x"))), talk, user("go"), host)
    await cancel_when(turn, host.asked.is_set)
    assert host.of(ToolFinished)[0].result.is_error
    assert [status.kind for status in host.of(StatusChanged)][-1] == "idle"


async def test_a_turn_that_cannot_be_stored_is_an_error(talk):
    talk.journal = FailingJournal(talk.journal, good=1)
    with pytest.raises(StoreError):
        await run_turn(agent(AssistantMessage("hello")), talk, user("hi"), RecordingHost())


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


async def test_only_an_empty_reply_is_called_empty(talk):
    scripted = Scripted(calls(call("nope", "1")), AssistantMessage(""), AssistantMessage("ok"))
    await run_turn(agent(provider=scripted), talk, user("go"), RecordingHost())
    assert [bool(request.notes) for request in scripted.requests] == [False, False, True]


async def test_a_mode_set_while_a_question_is_open_holds_for_the_answer(talk, tmp_path):
    def decide(request):
        talk.approvals.mode = "plan"
        return "allow_once"

    host = RecordingHost(decide)
    reply = calls(call("write_file", "1", path="a", content="x"), call("write_file", "2", path="b", content="x"))
    await run_turn(agent(reply, AssistantMessage("ok")), talk, user("go"), host)
    assert list(tmp_path.iterdir()) == []
    assert all("plan mode" in event.result.text for event in host.of(ToolFinished))


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


async def test_an_empty_reply_is_a_step_too(talk):
    host = RecordingHost()
    await run_turn(agent(AssistantMessage(""), AssistantMessage("ok")), talk, user("go"), host)
    assert [step.api_calls for step in host.of(StepFinished)] == [1, 2]


async def test_after_a_retry_the_status_is_thinking_again(talk):
    retry = [StatusChanged("retrying", "busy"), TextDelta("ok", "m"), Reply(AssistantMessage("ok"), "stop")]
    host = RecordingHost()
    await run_turn(agent(retry), talk, user("go"), host)
    assert [status.kind for status in host.of(StatusChanged)] == ["thinking", "retrying", "thinking", "idle"]
