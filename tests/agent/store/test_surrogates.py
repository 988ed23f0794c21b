"""Half a surrogate pair, in whatever is written, is replaced on its way into SQLite and never makes a write fail."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.agent.store.changes import FileAfter, FileBefore
from hermes_acp.agent.store.codec import merged
from hermes_acp.agent.store.records import Search, SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.messages import UserMessage, user
from tests.agent.store.strategies import events, messages

HALVES = st.sampled_from(["\ud800", "\udbff", "\udc00", "\udc80\udcff", "\udfff x", "\ud83d\ud83d"])


def ending(value: Any, end: str) -> Any:
    """The value with this end on every text in it."""
    match value:
        case str():
            return value + end
        case tuple() | list():
            return type(value)(ending(item, end) for item in value)
        case Mapping():
            return {ending(key, end): ending(item, end) for key, item in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value)(**{item.name: ending(getattr(value, item.name), end) for item in fields(value)})
        case _:
            return value


def replaced(half: str) -> str:
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in half)


@settings(deadline=None, max_examples=40)
@given(st.lists(messages, max_size=4), st.lists(events, max_size=4), HALVES)
def test_what_is_said_and_shown_is_stored_with_the_halves_replaced(
    said: list[Any], shown: list[Any], half: str
) -> None:
    async def through_the_store() -> tuple[list[Any], list[Any]]:
        store = await Store.open(None)
        try:
            await store.create(SessionRecord("s", "/p", prompted=True))
            journal = await store.journal("s")
            journal.begin_turn()
            for message in ending(said, half):
                journal.add_message(message)
            for event in ending(shown, half):
                journal.add_event(event)
            await journal.commit()
            journal.begin_segment(ending(said, half), len(said))
            await journal.commit(durable=True)
            return [one.message for one in await store.messages("s")], await store.events("s")
        finally:
            await store.aclose()

    assert asyncio.run(through_the_store()) == (
        ending(said, replaced(half)),
        list(merged(ending(shown, replaced(half)))),
    )


@settings(deadline=None, max_examples=20)
@given(HALVES, st.sampled_from(["", "héllo"]))
def test_every_other_write_and_every_question_takes_them_too(half: str, word: str) -> None:
    async def everything(path: Path) -> None:
        odd, good = word + half, word + replaced(half)
        store = await Store.open(path)
        try:
            await store.create(SessionRecord(*[odd] * 2, roots=(odd,), title=odd, created_at=odd, options={odd: odd}))
            journal = await store.journal(odd)
            journal.begin_turn()
            journal.update(
                title=odd, roots=(odd,), options={odd: odd}, system_prompt=odd, updated_at=odd, prompted=True
            )
            journal.add_message(user(f"find {odd}"))
            journal.keep(FileBefore(Path("/p", odd), b"a", None, 0o644, Path("/p", odd), b"b"))
            journal.correct(FileAfter(Path("/p", odd), b"x", mixed=True))
            journal.ran(f"cat {odd}")
            await journal.commit()
            assert [change.kind for change in await store.changes(odd)] == ["edited"]
            past = await journal.past_turn()
            assert past is not None
            assert past.commands == (f"cat {good}",)
            assert isinstance(past.prompt, UserMessage)
            journal.mark_undone(past)
            await journal.commit()
            expected = SessionRecord(
                *[good] * 2, (good,), good, good, good, {good: good}, prompted=True, system_prompt=good
            )
            assert await store.find(odd) == expected
            assert await store.list(odd, None, 9) == await store.beginning(odd) == [expected]
            assert await store.list(None, (odd, odd), 9) == []
            assert await store.prompts(odd) == 0
            assert await store.plan(odd) == ()
            found = await store.search(Search(("find", odd), besides=f"other{half}", cwd=odd, limit=3))
            assert [one.session for one in found] == [expected]
            fork = await store.fork(odd, f"fork{odd}", (odd,))
            assert fork.roots == (odd,)
            assert [one.message for one in await store.messages(f"fork{odd}")] == [user(f"find {good}")]
            await store.delete(odd)
            assert await store.find(odd) is None
        finally:
            await store.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(everything(Path(folder, "s.db")))
