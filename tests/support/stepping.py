"""Every moment of a piece of work: it is cancelled after its first step, after its second, and so on to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
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


async def cancelled_after(steps: int, work: Coroutine[Any, Any, Any]) -> bool:
    """Run it to its end, with a cancel once it and the tasks it begins have made so many steps; whether the cancel
    came before the end."""
    loop = asyncio.get_running_loop()
    task: asyncio.Task[Any] | None = None
    left = steps

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0 and task is not None:
            task.cancel()

    def begin(loop: asyncio.AbstractEventLoop, of: Any, **more: Any) -> asyncio.Task[Any]:
        return asyncio.Task(_Stepped(of, step), loop=loop, **more)

    loop.set_task_factory(begin)
    try:
        task = loop.create_task(work)
        await asyncio.wait([task])
    finally:
        loop.set_task_factory(None)
    if not task.cancelled():
        task.result()
    return left <= 0
