"""A cancel after each single step of a turn: every card ends once, and what was shown is what was kept."""

import asyncio
from collections import Counter

import pytest

from hermes_acp.agent.context_engine import Compaction, ContextEngine
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.history import find_disorder, repair
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.providers.base import Reply, Usage
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.retry import Retrying
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.tools import AgentTools
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.errors import ProviderError
from hermes_acp.events import (
    CompactionBegun,
    CompactionFailed,
    ContextCompacted,
    StatusChanged,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolPrepared,
)
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import AssistantMessage, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.approval import Approvals
from tests.support.stepping import cancelled_after
from tests.support.subagents import ByGoal, delegate
from tests.support.turns import agent, call, calls

READ = calls(call("read_file", "1", path="a"))
READ_AND_EDIT = calls(call("read_file", "1", path="a"), call("write_file", "2", path="b", content="b\n"))
DONE = AssistantMessage("It is done.")


class LeavesLate(Scripted):
    """A stream that takes time to close."""

    async def stream(self, request):
        try:
            async for delta in super().stream(request):
                yield delta
        finally:
            await asyncio.sleep(0)


class Summarised(ContextEngine):
    """Puts a summary in the place of all that was said before the prompt."""

    def is_due(self, used, window, moment):
        return moment == "turn_start"

    async def compact(self, context):
        if len(context.messages) < 3:
            return None
        summary = await context.ask("What was said?")
        return Compaction((user("Before."), AssistantMessage(summary), context.messages[-1]), summary)


class SlowPerson(RecordingHost):
    """Answers a moment later."""

    async def approve(self, request):
        await asyncio.sleep(0)
        return await super().approve(request)


def deaf(seconds):
    """A pause that takes no time."""
    return asyncio.sleep(0)


TURNS = {
    "calls": lambda: agent(READ_AND_EDIT, DONE),
    "a refusal with calls": lambda: agent(Reply(READ, "refusal", Usage(), "scripted")),
    "an unknown tool and bad arguments": lambda: agent(calls(call("fly", "1"), call("read_file", "2", road="a")), DONE),
    "a stream that closes late": lambda: agent(provider=LeavesLate(READ_AND_EDIT, DONE)),
    "an answer that breaks off": lambda: agent(
        provider=Retrying(
            Scripted([ToolDrafted("0", "read_file"), ProviderError("gone", kind="server")], READ, DONE), sleep=deaf
        )
    ),
    "an answer in two parts": lambda: agent(
        provider=Continued(Scripted(Reply(AssistantMessage("It is"), "length", Usage(), "scripted"), DONE))
    ),
    "subagents": lambda: agent(
        provider=ByGoal(parent=[delegate("a", "b"), DONE], **{goal: [READ_AND_EDIT, DONE] for goal in "ab"})
    ),
    "a compaction": lambda: agent(DONE, AssistantMessage("Less."), READ, DONE, engine=Summarised()),
    "calls used up": lambda: agent(READ, DONE, max_calls=1),
}
"""What may happen in a turn. One with a compaction has a turn before it."""


@pytest.mark.parametrize("what", TURNS)
async def test_every_card_ends_once_and_what_was_shown_is_kept(store, tmp_path, what):
    (tmp_path / "a").write_text("content of a\n")
    for steps in range(1, 1_000):
        answers, host = TURNS[what](), SlowPerson()
        talk = await begin(f"s{steps}", store, tmp_path, answers)
        if what == "a compaction":
            await run_turn(answers, talk, user("hello"), host)
        cancelled = await cancelled_after(steps, run_turn(answers, talk, user("go"), host))
        await talk.workspace.aclose()
        await judge(talk, host, store)
        if not cancelled:
            return
    raise AssertionError("it never came to its end")


async def begin(name, store, folder, answers):
    await store.create(SessionRecord(id=name, cwd=str(folder), created_at="2026-01-01", updated_at="2026-01-01"))
    talk = Conversation(name, LocalWorkspace(folder, ()), await store.journal(name), Approvals())
    talk.toolbox = AgentTools(Desk(talk, store, None, lambda: answers))
    return talk


async def judge(talk, host, store):
    begun = {event.call_id for event in host.events if isinstance(event, ToolDrafted | ToolPrepared)}
    assert Counter(event.call_id for event in host.of(ToolFinished)) == Counter(begun)
    compacted = [event.compaction_id for event in host.of(CompactionFailed) + host.of(ContextCompacted)]
    assert compacted == [event.compaction_id for event in host.of(CompactionBegun)]
    assert not host.events or host.of(StatusChanged)[-1].kind == "idle"
    assert find_disorder(talk.messages) is None
    assert repair([stored.message for stored in await store.messages(talk.id)]) == talk.messages
    kept = await store.events(talk.id)
    assert {event.call_id for event in kept if isinstance(event, ToolFinished)} == begun
    assert text_of(kept) == text_of(host.events)


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))
