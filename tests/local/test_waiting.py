"""Waiting: bounded, or to the end."""

from __future__ import annotations

import asyncio

import pytest

from hermes_acp.local.waiting import finishing, surely, unless_whole, within


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


async def test_a_cancel_wins_over_an_error_which_the_log_keeps(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        await asyncio.sleep(0.05)
        raise ValueError("the disk is full")

    waiting = asyncio.create_task(surely(fail()))
    await asyncio.sleep(0.01)
    waiting.cancel("why")
    with pytest.raises(asyncio.CancelledError, match="why"):
        await waiting
    assert "the disk is full" in caplog.text


async def test_what_a_block_raised_goes_on_after_its_end_even_when_that_fails() -> None:
    done: list[str] = []

    async def end() -> None:
        done.append("end")
        raise ValueError("no end")

    with pytest.raises(KeyError):
        async with finishing(end):
            raise KeyError("first")
    with pytest.raises(ValueError, match="no end"):
        async with finishing(end):
            pass
    assert done == ["end", "end"]


async def test_work_that_is_owed_only_after_a_failure_adds_no_wait_to_a_whole_block() -> None:
    done: list[str] = []

    async def mend() -> None:
        await asyncio.sleep(0)
        done.append("mended")

    async def whole() -> str:
        async with unless_whole(mend):
            done.append("whole")
        return "ended"

    with pytest.raises(StopIteration, match="ended"):
        whole().send(None)
    with pytest.raises(KeyError):
        async with unless_whole(mend):
            raise KeyError("broken")
    assert done == ["whole", "mended"]
