"""Every moment of a piece of work: it is cancelled after its first step, after its second, and so on to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that tells of each of its steps."""

    def __init__(self, of: Coroutine[Any, Any, Any], told: Callable[[], None]) -> None:
        self._of = of
        self._told = told

    def send(self, value: Any) -> Any:
        try:
            return self._of.send(value)
        finally:
            self._told()

    def throw(self, *raised: Any) -> Any:
        try:
            return self._of.throw(*raised)
        finally:
            self._told()

    def close(self) -> None:
        self._of.close()

    def __await__(self) -> Any:
        return self._of.__await__()


@dataclass
class Countdown:
    """`count` steps are left until `do` is called."""

    count: int
    do: Callable[[], object] = lambda: None
    ended: bool = False

    def step(self) -> None:
        if self.ended:
            return
        self.count -= 1
        if self.count == 0:
            self.do()


@contextmanager
def after_steps(steps: int) -> Iterator[Countdown]:
    """A block in which something is done once the tasks that are begun in it have made so many steps."""
    loop, countdown = asyncio.get_running_loop(), Countdown(steps)

    def begin(loop: asyncio.AbstractEventLoop, of: Any, **more: Any) -> asyncio.Task[Any]:
        return asyncio.Task(_Stepped(of, countdown.step), loop=loop, **more)

    loop.set_task_factory(begin)
    try:
        yield countdown
    finally:
        loop.set_task_factory(None)
        countdown.ended = True


async def cancelled_after(steps: int, work: Coroutine[Any, Any, Any]) -> bool:
    """Run it to its end, with a cancel after so many steps; whether the cancel came before the end."""
    with after_steps(steps) as countdown:
        task = asyncio.create_task(work)
        countdown.do = task.cancel
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    return countdown.count <= 0
