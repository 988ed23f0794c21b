"""Running shell commands to their end, and ending whatever they leave behind."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from functools import partial

from hermes_acp.errors import ToolError
from hermes_acp.local import child, survivors
from hermes_acp.local.background import BackgroundCommand
from hermes_acp.local.child import Child
from hermes_acp.local.dressing import Dressing
from hermes_acp.local.output import Live, Recording
from hermes_acp.local.waiting import surely, within
from hermes_acp.text import head_and_tail
from hermes_acp.workspace import Command, Completed, Show

_LIVE = 8_000
_GRACE = 0.25
_PATIENCE = 0.4
_MOST_BACKGROUND = 32


class Shell:
    """The commands of one session.

    A command that is cancelled or runs out of time is ended with everything it started. One that ends by
    itself may leave processes running in the background; these end with `aclose`, as do the commands that
    were started in the background.
    """

    def __init__(self, dressing: Dressing | None = None) -> None:
        self._dressing = dressing or Dressing()
        self.background: dict[str, BackgroundCommand] = {}
        self._started = 0
        self._starting = 0
        self._tag = secrets.token_hex(12)
        self._children: set[Child] = set()
        self._left: set[int] = set()
        self._walled: set[int] = set()
        self._closed = False

    async def run(self, command: Command, on_output: Show) -> Completed:
        """Run a command until its own process ends; `on_output` gets its output so far, ten times a second.

        Raises:
            ToolError: it cannot be started.
        """
        tag = self._new_tag()
        listener = _Listener(on_output)
        started = await self._start(command, tag, listener.take)
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

    async def start(self, command: Command) -> str:
        """Start a command in the background; its id. Of those that have ended the oldest are forgotten.

        Raises:
            ToolError: it cannot be started, or too many run already.
        """
        tag = self._new_tag()
        self._make_room()
        recording = Recording()
        self._starting += 1
        try:
            started = await self._start(command, tag, lambda fd, data: recording.feed(data))
        finally:
            self._starting -= 1
        self._started += 1
        name = f"p{self._started}"
        self.background[name] = BackgroundCommand(command.line, started, recording, partial(self._kill, started, tag))
        return name

    def runs_in_background(self) -> bool:
        """Whether a background command has not ended."""
        return any(not command.child.exited.is_set() for command in self.background.values())

    async def aclose(self) -> None:
        """End every process that the commands of this session have left, and refuse new commands."""
        self._closed = True
        await surely(asyncio.to_thread(survivors.dismiss, self._tag, *await self._sessions()))
        left, self._children = self._children, set()
        for ended in left:
            await ended.end()
        await surely(self._dressing.aclose())

    async def _sessions(self) -> set[int]:
        """The sessions of commands that run, and of those that have left something running."""
        ended = {each.pid for each in self._children if each.exited.is_set()}
        running = {each.pid for each in self._children} - ended
        return running | await surely(asyncio.to_thread(survivors.left_behind, self._left | ended))

    def _new_tag(self) -> str:
        if self._closed:
            raise ToolError("The session is closed; no command can run.")
        return f"{self._tag}.{secrets.token_hex(8)}"

    def _make_room(self) -> None:
        self._let_go()
        if len(self.background) + self._starting < _MOST_BACKGROUND:
            return
        ended = next((name for name, command in self.background.items() if command.child.exited.is_set()), None)
        if ended is None:
            raise ToolError(f"{_MOST_BACKGROUND} commands run in the background already; end one with process first.")
        del self.background[ended]

    async def _kill(self, started: Child, tag: str) -> None:
        """The number of a process that has ended may be another's: then only what it left behind is ended."""
        if started.exited.is_set():
            left = await surely(asyncio.to_thread(survivors.left_behind, {started.pid}))
            await surely(asyncio.to_thread(survivors.end, tag, *left))
        else:
            await self._stop(started, tag)

    async def _start(self, command: Command, tag: str, take: Callable[[int, bytes], None]) -> Child:
        starting = asyncio.ensure_future(self._begin(command, tag, take))
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

    async def _begin(self, command: Command, tag: str, take: Callable[[int, bytes], None]) -> Child:
        dressed = await self._dressing.of(command, tag)
        started = await child.start(dressed.argv, cwd=command.cwd, environment=dressed.environment, on_data=take)
        if dressed.walled:
            self._walled.add(started.pid)
        return started

    async def _stop(self, started: Child, tag: str) -> None:
        """Ask it to end, then kill it. The first process of a sandbox is not asked: with it all would end at once."""
        if started.pid in self._walled:
            await surely(asyncio.to_thread(survivors.ask, tag, started.pid))
        else:
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
        self._walled &= {each.pid for each in self._children}
        if not self._children:
            self._dressing.all_ended()
        self._left = {left for left in self._left | {each.pid for each in over} if survivors.has_members(left)}


class _Listener:
    """What is kept and shown of a command's output, until it is closed; the rest is only drained."""

    def __init__(self, on_output: Show) -> None:
        self._recording = Recording()
        self._live = Live(on_output, lambda: head_and_tail(self._recording.text(), _LIVE))
        self._closed = False

    def take(self, fd: int, data: bytes) -> None:
        if not self._closed:
            self._recording.feed(data)
            self._live.changed()

    def close(self) -> None:
        self._closed = True
        self._recording.finish()
        self._live.close()

    def text(self) -> str:
        return self._recording.text()


async def _gone(started: Child) -> None:
    await started.exited.wait()
    await started.closed.wait()
