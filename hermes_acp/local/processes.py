"""Running shell commands to their end, and ending whatever they leave behind."""

from __future__ import annotations

import asyncio
import secrets
import signal

from hermes_acp.errors import ToolError
from hermes_acp.local import child, environment, survivors
from hermes_acp.local.child import Child
from hermes_acp.local.output import Excerpt, Live, PlainDecoder
from hermes_acp.local.waiting import surely, within
from hermes_acp.text import head_and_tail
from hermes_acp.workspace import Command, Completed, Show

_LIVE = 8_000
_GRACE = 0.25
_PATIENCE = 0.4


class Shell:
    """The commands of one session.

    A command that is cancelled or runs out of time is ended with everything it started. One that ends by
    itself may leave processes running in the background; these end with `aclose`.
    """

    def __init__(self) -> None:
        self._tag = secrets.token_hex(12)
        self._children: set[Child] = set()
        self._closed = False

    async def run(self, command: Command, on_output: Show) -> Completed:
        """Run a command until its own process ends; `on_output` gets its output so far, ten times a second.

        Raises:
            ToolError: it cannot be started.
        """
        if self._closed:
            raise ToolError("The session is closed; no command can run.")
        tag = f"{self._tag}.{secrets.token_hex(8)}"
        listener = _Listener(on_output)
        started = await self._start(command, tag, listener)
        try:
            timed_out = not await within(command.timeout, started.exited.wait())
            if timed_out:
                await self._stop(started, tag)
            await within(_GRACE, started.closed.wait())
        except asyncio.CancelledError:
            await self._destroy(started, tag)
            raise
        finally:
            listener.close()
            self._let_go()
        return Completed(started.exit_code, listener.text(), timed_out=timed_out)

    async def aclose(self) -> None:
        """End every process that the commands of this session have left, and refuse new commands."""
        self._closed = True
        await surely(asyncio.to_thread(survivors.dismiss, self._tag))
        left, self._children = self._children, set()
        for ended in left:
            await ended.end()

    async def _start(self, command: Command, tag: str, listener: _Listener) -> Child:
        starting = asyncio.ensure_future(
            child.start(
                environment.shell(command.line),
                cwd=command.cwd,
                environment=environment.for_command(tag),
                on_data=listener.take,
            )
        )
        try:
            started = await surely(starting)
        except asyncio.CancelledError:
            if starting.exception() is None:
                await self._destroy(starting.result(), tag)
            raise
        self._children.add(started)
        if self._closed:
            await self._destroy(started, tag)
        return started

    async def _stop(self, started: Child, tag: str) -> None:
        survivors.signal_group(started.pid, signal.SIGTERM)
        await within(_PATIENCE, _gone(started))
        await self._end(started, tag)

    async def _destroy(self, started: Child, tag: str) -> None:
        self._children.discard(started)
        try:
            await self._end(started, tag)
        finally:
            await started.end()

    async def _end(self, started: Child, tag: str) -> None:
        await surely(asyncio.to_thread(survivors.end, tag, started.pid))
        await within(1.0, started.exited.wait())

    def _let_go(self) -> None:
        over = {left for left in self._children if left.exited.is_set() and left.closed.is_set()}
        for ended in over:
            ended.close()
        self._children -= over


class _Listener:
    """What is kept and shown of a command's output, until it is closed; the rest is only drained."""

    def __init__(self, on_output: Show) -> None:
        self._decoder = PlainDecoder()
        self._excerpt = Excerpt()
        self._live = Live(on_output, lambda: head_and_tail(self._excerpt.text(), _LIVE))
        self._closed = False

    def take(self, fd: int, data: bytes) -> None:
        if not self._closed:
            self._excerpt.feed(self._decoder.feed(data))
            self._live.changed()

    def close(self) -> None:
        self._closed = True
        self._excerpt.feed(self._decoder.finish())
        self._live.close()

    def text(self) -> str:
        return self._excerpt.text()


async def _gone(started: Child) -> None:
    await started.exited.wait()
    await started.closed.wait()
