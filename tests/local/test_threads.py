"""The executor of an agent's loop: like the standard one, but nobody waits for its threads."""

import asyncio
import threading
import time

import pytest

from hermes_acp.local.threads import MOST, DaemonThreads


@pytest.fixture
def threads():
    executor = DaemonThreads()
    yield executor
    executor.shutdown()


def test_work_is_done_and_errors_are_told(threads):
    assert threads.submit(pow, 2, 10).result(5) == 1024
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(5)
    assert list(threads.map(str, range(3))) == ["0", "1", "2"]


def test_a_thread_is_used_again(threads):
    names = []
    for _ in range(20):
        names.append(threads.submit(threading.current_thread).result(5))
        time.sleep(0.002)
    assert len({*names}) <= 2
    assert all(thread.daemon for thread in names)


def test_so_many_work_at_once_and_the_rest_comes_after(threads):
    hold, begun = threading.Event(), []
    work = [threads.submit(lambda: (begun.append(1), hold.wait(5))) for _ in range(MOST + 5)]
    time.sleep(0.2)
    assert len(begun) == MOST
    hold.set()
    for future in work:
        future.result(5)
    assert len(begun) == MOST + 5


def test_work_that_is_cancelled_before_its_turn_is_not_done(threads):
    hold, done = threading.Event(), []
    blocking = [threads.submit(hold.wait, 5) for _ in range(MOST)]
    late = threads.submit(done.append, 1)
    assert late.cancel()
    hold.set()
    for future in blocking:
        future.result(5)
    threads.submit(int).result(5)
    assert done == []


def test_a_loop_takes_it_and_does_not_wait_for_it_at_its_end():
    async def main():
        asyncio.get_running_loop().set_default_executor(DaemonThreads())
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 10)
        return await asyncio.to_thread(pow, 2, 3)

    began = time.monotonic()
    assert asyncio.run(main()) == 8
    assert time.monotonic() - began < 5
