"""A fork is a copy: whole, on its own, and without what still runs."""

from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.history import find_disorder, repair
from hermes_acp.agent.store.codec import merged
from hermes_acp.agent.store.records import SessionRecord, StoredMessage
from hermes_acp.agent.store.store import Store
from hermes_acp.cards import ToolResult
from hermes_acp.errors import SessionNotFound, StoreError
from hermes_acp.events import TextDelta, ToolFinished, ToolPrepared, UserPrompted
from hermes_acp.messages import AssistantMessage, Opaque, ToolCall, ToolMessage, user
from tests.agent.store.strategies import events

THOUGHT = Opaque("openai", "m", {"reasoning_content": "hm"})


@asynccontextmanager
async def session(path=None, **fields):
    """A store with one session "s", and the way into it."""
    store = await Store.open(path)
    try:
        await store.create(SessionRecord("s", "/p", ("/more",), prompted=True, **fields))
        yield store, await store.journal("s")
    finally:
        await store.aclose()


async def noted(journal, *facts):
    journal.begin_turn()
    for fact in facts:
        note = journal.add_event if isinstance(fact, UserPrompted | TextDelta | ToolPrepared | ToolFinished) else None
        (note or journal.add_message)(fact)
    await journal.commit()


def step(*names, answered, text=""):
    """A reply that calls tools, and the results that there are, last first."""
    reply = AssistantMessage(text, "", tuple(ToolCall(name, "read_file", {"path": name}) for name in names), THOUGHT)
    return [reply, *(ToolMessage(name, "read_file", f"content of {name}") for name in reversed(answered))]


async def test_a_fork_has_the_folder_the_options_the_prompt_and_all_that_was_said_and_shown(tmp_path):
    prompt = user("hi")
    async with session(tmp_path / "s.db", title="T", options={"mode": "plan"}, system_prompt="S\n") as (store, journal):
        await noted(journal, prompt, AssistantMessage("hello"), UserPrompted(prompt, "m1"), TextDelta("hello", "m2"))
        fork = await store.fork("s", "f")
        assert (fork.cwd, fork.title, fork.options) == ("/p", "T", {"mode": "plan"})
        assert (fork.system_prompt, fork.prompted, fork.roots) == ("S\n", True, ())
        assert await store.find("f") == fork
        assert await store.messages("f") == await store.messages("s")
        assert await store.events("f") == await store.events("s")
        assert {record.id for record in await store.list("/p", None, 9)} == {"s", "f"}
        assert (await store.journal("f")).turn == 1


async def test_further_folders_are_only_those_that_are_given():
    async with session() as (store, _):
        assert (await store.fork("s", "f", ("/other",))).roots == ("/other",)
        assert (await store.find("s")).roots == ("/more",)


async def test_each_of_the_two_goes_its_own_way():
    async with session() as (store, journal):
        await noted(journal, user("1"), AssistantMessage("one"))
        await store.fork("s", "f")
        await noted(await store.journal("f"), user("2 of the fork"), AssistantMessage("two"))
        await noted(journal, user("2"))
        assert [each.message.text for each in await store.messages("s")] == ["1", "one", "2"]
        assert [each.message.text for each in await store.messages("f")] == ["1", "one", "2 of the fork", "two"]


@pytest.mark.parametrize(("deleted", "left"), [("f", "s"), ("s", "f")])
async def test_deleting_one_leaves_the_other(deleted, left):
    async with session() as (store, journal):
        await noted(journal, user("1"), AssistantMessage("one"), TextDelta("one", "m"))
        await store.fork("s", "f")
        await store.delete(deleted)
        assert await store.find(deleted) is None
        assert [each.message.text for each in await store.messages(left)] == ["1", "one"]
        assert await store.events(left) == [TextDelta("one", "m")]


async def test_a_step_keeps_the_calls_that_were_answered_and_the_thoughts_before_them():
    async with session() as (store, journal):
        done = [user("go"), *step("a", answered=["a"])]
        await noted(journal, *done, *step("b", "c", "d", answered=["b", "d"], text="Now these."))
        await store.fork("s", "f")
        copied = [each.message for each in await store.messages("f")]
        assert copied[:3] == done
        assert copied[3] == step("b", "d", answered=[], text="Now these.")[0]
        assert {each.call_id for each in copied[4:]} == {"b", "d"}
        assert find_disorder(repair(copied)) is None
        assert len((await store.messages("s"))[3].message.tool_calls) == 3


async def test_a_step_of_which_nothing_was_answered_is_not_there():
    async with session() as (store, journal):
        await noted(journal, user("go"), *step("a", "b", answered=[], text="I look."))
        await store.fork("s", "f")
        assert [each.message for each in await store.messages("f")] == [user("go")]


async def test_a_call_id_that_an_earlier_step_had_too_is_not_taken_for_answered():
    async with session() as (store, journal):
        await noted(journal, user("go"), *step("a", answered=["a"]), *step("a", answered=[]))
        await store.fork("s", "f")
        assert [each.message for each in await store.messages("f")] == [user("go"), *step("a", answered=["a"])]


async def test_a_card_that_has_not_ended_is_not_shown():
    def card(call_id):
        return ToolPrepared(call_id, "terminal", "execute", "Run")

    ended = ToolFinished("a", "terminal", ToolResult("ok"))
    async with session() as (store, journal):
        await noted(journal, UserPrompted(user("go"), "m"), card("a"), card("b"), ended)
        await store.fork("s", "f")
        assert await store.events("f") == [UserPrompted(user("go"), "m"), card("a"), ended]
        assert len(await store.events("s")) == 4


@given(st.lists(events, max_size=8))
async def test_what_was_shown_is_copied_in_order_whatever_it_is(shown):
    shown = [event for event in shown if not isinstance(event, ToolPrepared)]
    async with session() as (store, journal):
        journal.begin_turn()
        for event in shown:
            journal.add_event(event)
        await journal.commit()
        await store.fork("s", "f")
        assert await store.events("f") == list(merged(shown))


async def test_a_session_that_does_not_exist_cannot_be_forked_and_an_id_not_be_taken_twice():
    async with session() as (store, _):
        with pytest.raises(SessionNotFound):
            await store.fork("nope", "f")
        with pytest.raises(StoreError):
            await store.fork("s", "s")
        assert [each for each in await store.messages("s") if isinstance(each, StoredMessage)] == []
        assert await store.find("f") is None
