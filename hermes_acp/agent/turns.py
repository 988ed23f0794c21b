"""The prompts of one session, one at a time: queued in order, cancelled together or alone."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import field
from typing import Any, TypeVar

from hermes_acp.lazy_dataclasses import dataclass

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Ticket:
    """One prompt's place in the queue, taken at the moment its line was read.

    A turn is its own task: cancelling it never cancels the request, which waits for it and answers.
    """

    cancelled: bool = False
    _task: asyncio.Task[Any] | None = None
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def cancel(self) -> None:
        """End this prompt: stop its turn when it runs, never start it when it waits."""
        self.cancelled = True
        self._moved.set()
        if self._task is not None:
            self._task.cancel()


class Turns:
    """The queue of one session."""

    def __init__(self) -> None:
        self._queue: deque[Ticket] = deque()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def running(self) -> Ticket | None:
        """The prompt that has its turn now."""
        return self._queue[0] if self._queue else None

    @property
    def busy(self) -> bool:
        """Whether a prompt runs or waits."""
        return bool(self._queue)

    def register(self) -> Ticket:
        """Take the next place in the queue."""
        ticket = Ticket()
        self._queue.append(ticket)
        self._idle.clear()
        return ticket

    def withdraw(self, ticket: Ticket) -> None:
        """Leave the queue without having run."""
        if ticket in self._queue:
            self._queue.remove(ticket)
        for waiting in self._queue:
            waiting._moved.set()
        if not self._queue:
            self._idle.set()

    def cancel_all(self) -> None:
        """End the running turn and every waiting one; what is registered later runs."""
        for ticket in self._queue:
            ticket.cancel()

    async def run(self, ticket: Ticket, turn: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for the ticket's place, then run the turn to its end.

        Raises:
            asyncio.CancelledError: the turn was cancelled. (The waiting request was not: it can answer.)
        """
        try:
            await self._reach(ticket)
            if ticket.cancelled:
                raise asyncio.CancelledError
            ticket._task = asyncio.get_running_loop().create_task(turn())
            return await _outcome(ticket._task)
        finally:
            self.withdraw(ticket)

    async def idle(self) -> None:
        """Wait until nothing runs or waits."""
        await self._idle.wait()

    async def _reach(self, ticket: Ticket) -> None:
        while self._queue[0] is not ticket and not ticket.cancelled:
            ticket._moved.clear()
            await ticket._moved.wait()


async def _outcome(task: asyncio.Task[T]) -> T:
    """The task's result; a cancelled waiter cancels the task and waits for its end all the same."""
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
    return task.result()
