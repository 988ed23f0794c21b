"""A loop in a thread: what runs on it, how it ends, and what a signal does to whoever waits."""

import asyncio
import signal
import threading
from concurrent.futures import Future

import pytest

from hermes_acp.library.loop_thread import Closed, LoopThread, wait_for
from tests.support.processes import until


@pytest.fixture
def closings():
    return []


@pytest.fixture
def thread(closings):
    async def closing():
        closings.append(asyncio.get_running_loop())

    thread = LoopThread(closing)
    yield thread
    thread.end(5)


def ready(value=None):
    async def answer():
        return value

    return answer


def test_every_call_runs_on_one_loop_of_another_thread(thread):
    async def where():
        return asyncio.get_running_loop(), threading.current_thread()

    first, second = thread.run(where).result(5), thread.run(where).result(5)
    assert first == second
    assert first[1] is not threading.current_thread()


def test_begins_and_calls_keep_their_order(thread):
    seen = []

    def begin(number):
        seen.append(number)
        return ready(number)()

    for number in range(50):
        thread.run(lambda number=number: begin(number))
        thread.call(lambda number=number: seen.append(-number))
    thread.run(ready()).result(5)
    assert seen == [each for number in range(50) for each in (number, -number)]


def test_errors_are_the_callers(thread):
    async def fails():
        raise LookupError("lost")

    def cannot_begin():
        raise ValueError("no")

    with pytest.raises(LookupError):
        thread.run(fails).result(5)
    with pytest.raises(ValueError, match="no"):
        thread.run(cannot_begin).result(5)


def test_calling_what_has_not_begun_or_has_ended_does_nothing(thread):
    thread.call(lambda: pytest.fail("called"))
    thread.end(5)
    thread.call(lambda: pytest.fail("called"))
    with pytest.raises(Closed):
        thread.run(ready())


def test_it_is_closed_once_on_its_loop(thread, closings):
    thread.run(ready()).result(5)
    thread.end(5)
    thread.end(5)
    assert len(closings) == 1
    assert closings[0].is_closed()


def test_what_still_runs_at_the_end_is_told_so(thread):
    future = thread.run(lambda: asyncio.sleep(60))
    thread.end(5)
    with pytest.raises(Closed):
        future.result(5)


def test_ending_it_from_its_own_loop_waits_for_nothing(thread, closings):
    async def end():
        thread.end(5)

    thread.run(end).result(5)
    assert until(lambda: closings, 5)


def test_a_second_ctrl_c_is_raised_at_once():
    """The work does not end, whatever it is told."""
    cancels = []

    def cancel():
        cancels.append(1)
        threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()

    def begin():
        threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        return Future()

    with pytest.raises(KeyboardInterrupt):
        wait_for(begin, cancel, 30)
    assert cancels == [1]
