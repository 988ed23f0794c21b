"""Waiting: bounded, or to the end."""

from __future__ import annotations

import asyncio

import pytest

from hermes_acp.local.waiting import surely, within


async def test_a_wait_says_whether_it_came_to_its_end() -> None:
    assert await within(1, asyncio.sleep(0))
    assert not await within(0.01, asyncio.sleep(5))


async def test_work_is_waited_for_through_every_cancel_and_the_cancel_goes_on() -> None:
    done: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0.1)
        done.append("work")

    waiting = asyncio.create_task(surely(work()))
    for _ in range(5):
        await asyncio.sleep(0.01)
        waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == ["work"]


async def test_results_and_errors_come_through() -> None:
    async def fail() -> None:
        raise ValueError("no")

    assert await surely(asyncio.sleep(0, "yes")) == "yes"
    with pytest.raises(ValueError, match="no"):
        await surely(fail())
