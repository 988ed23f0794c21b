"""The thread does what it is handed, in order, whoever still waits for it."""

import asyncio
import threading

import pytest

from hermes_acp.agent.store.database import Database, open_database
from hermes_acp.agent.store.thread import StoreThread
from hermes_acp.errors import StoreError


async def opened():
    thread, _ = await StoreThread.open(lambda: open_database(None))
    return thread


async def nothing_new(before):
    """Whether all threads that were not there before have ended, or do so soon."""
    for _ in range(100):
        if set(threading.enumerate()) <= before:
            return True
        await asyncio.sleep(0.01)
    return False


async def test_the_database_is_touched_by_one_other_thread():
    thread = await opened()
    seen = {await thread.run(lambda connection: threading.get_ident()) for _ in range(5)}
    assert len(seen) == 1
    assert threading.get_ident() not in seen
    await thread.aclose()


async def test_functions_run_in_the_order_they_were_handed_in():
    thread, done = await opened(), []
    await asyncio.gather(*[thread.run(lambda connection, n: done.append(n), number) for number in range(100)])
    assert done == list(range(100))
    await thread.aclose()


async def test_a_function_runs_although_its_waiter_is_gone():
    thread, done = await opened(), []
    gate = threading.Event()
    first = asyncio.ensure_future(thread.run(lambda connection: gate.wait(5)))
    second = asyncio.ensure_future(thread.run(lambda connection: done.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    assert await first
    await thread.run(lambda connection: done.append("third"))
    assert done == ["second", "third"]
    await thread.aclose()


async def test_the_loop_goes_on_while_the_database_is_busy():
    thread, gate = await opened(), threading.Event()
    waiting = asyncio.ensure_future(thread.run(lambda connection: gate.wait(5)))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    gate.set()
    assert await waiting
    await thread.aclose()


async def test_errors_reach_the_waiter_and_leave_the_thread_alive():
    thread = await opened()
    with pytest.raises(StoreError, match="no such table"):
        await thread.run(lambda connection: connection.execute("SELECT * FROM missing"))
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda connection: 1 / 0)
    assert await thread.run(lambda connection: 1) == 1
    await thread.aclose()


async def test_a_database_that_does_not_open_leaves_no_thread():
    before = set(threading.enumerate())

    def refuse() -> Database:
        raise StoreError("no")

    with pytest.raises(StoreError, match="no"):
        await StoreThread.open(refuse)
    assert await nothing_new(before)


async def test_closing_ends_the_thread():
    before = set(threading.enumerate())
    thread = await opened()
    await asyncio.gather(thread.aclose(), thread.aclose())
    assert await nothing_new(before)


def test_a_loop_that_has_gone_does_not_trouble_the_thread():
    gate, done = threading.Event(), []

    def late(connection):
        gate.wait(5)
        done.append("written")

    async def leave():
        thread = await opened()
        asyncio.ensure_future(thread.run(late)).add_done_callback(lambda future: future.cancelled())
        await asyncio.sleep(0)
        thread._jobs.put(None)

    asyncio.run(leave())
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "hermes-store":
            thread.join(5)
    assert done == ["written"]
