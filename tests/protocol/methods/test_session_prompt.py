"""What a prompt is answered with, whatever happens to its turn."""

import asyncio
from functools import partial
from types import SimpleNamespace

import pytest

from hermes_acp.agent.turns import Turns
from hermes_acp.errors import StoreError
from hermes_acp.protocol.methods import session_prompt


async def begin(answer):
    """A prompt whose turn is `answer`, and its place in the queue."""
    turns = Turns()
    ticket = turns.register()
    session = SimpleNamespace(
        turns=turns, host=SimpleNamespace(caught_up=partial(asyncio.sleep, 0)), answer=answer, settle=None
    )
    call = SimpleNamespace(state=SimpleNamespace(session=session, ticket=ticket), after=lambda follower: None)
    task = asyncio.create_task(session_prompt.prompt(call, SimpleNamespace(session_id="s", prompt=[])))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return ticket, task


async def test_a_cancelled_prompt_whose_facts_cannot_be_stored_is_cancelled_and_no_error():
    async def fails_at_the_end(blocks):
        try:
            await asyncio.sleep(60)
        finally:
            raise StoreError("the disk is full")

    ticket, answer = await begin(fails_at_the_end)
    ticket.cancel()
    assert await answer == {"stopReason": "cancelled"}


async def test_a_prompt_that_nobody_cancelled_tells_its_error():
    async def fails(blocks):
        raise StoreError("the disk is full")

    _, answer = await begin(fails)
    with pytest.raises(StoreError):
        await answer
