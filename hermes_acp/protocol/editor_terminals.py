"""Commands in the editor's own terminals."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.environment import shell
from hermes_acp.local.waiting import surely
from hermes_acp.protocol import outbound
from hermes_acp.protocol.errors import Disconnected, RemoteError
from hermes_acp.protocol.peer import Peer
from hermes_acp.text import clean, plain
from hermes_acp.workspace import Command, Completed, Show

T = TypeVar("T")

log = logging.getLogger(__name__)

OUTPUT_BYTES = 64_000
_ENDING_SECONDS = 1.0


class NoTerminal(Exception):
    """The editor did not open a terminal; the command has not been started."""


@dataclass(frozen=True, slots=True)
class EditorTerminals:
    """One session's `terminal/*` calls."""

    peer: Peer
    session_id: str

    async def run(self, command: Command, show: Show) -> Completed:
        """Run a command in a terminal of the editor, shown in its card while it runs.

        The terminal is released exactly once, whatever happens; a command that times out or is cancelled is
        killed before (ACP: terminals).

        Raises:
            NoTerminal: the editor opened none.
        """
        terminal_id = await self._created(command)
        show("", terminal_id)
        timed_out, status = False, {}
        try:
            try:
                async with asyncio.timeout(command.timeout):
                    status = await self._quietly("terminal/wait_for_exit", terminal_id)
            except TimeoutError:
                timed_out = True
                await self._within(self._quietly("terminal/kill", terminal_id))
            output = await self._within(self._quietly("terminal/output", terminal_id)) or {}
        except asyncio.CancelledError:
            await surely(self._within(self._stop(terminal_id)))
            raise
        finally:
            await surely(self._within(self._quietly("terminal/release", terminal_id)))
        return _completed(output, status, timed_out, terminal_id)

    async def _created(self, command: Command) -> str:
        """A new terminal; one that the editor opens while its command is being cancelled is released."""
        creating = asyncio.ensure_future(self._create(command))
        try:
            return await asyncio.shield(creating)
        except asyncio.CancelledError:
            await surely(self._within(self._discard(creating)))
            raise

    async def _discard(self, creating: asyncio.Future[str]) -> None:
        try:
            terminal_id = await creating
        except NoTerminal:
            return
        await self._quietly("terminal/kill", terminal_id)
        await self._quietly("terminal/release", terminal_id)

    async def _create(self, command: Command) -> str:
        program, *args = (word.decode("utf-8", "replace") for word in shell(command.line))
        params = outbound.create_terminal(
            self.session_id, program, args, cwd=str(command.cwd), env={}, output_byte_limit=OUTPUT_BYTES
        )
        try:
            answer = await self.peer.request("terminal/create", params)
        except (RemoteError, Disconnected) as error:
            raise NoTerminal(str(error)) from None
        terminal_id = answer.get("terminalId") if isinstance(answer, dict) else None
        if not isinstance(terminal_id, str):
            raise NoTerminal("the editor named no terminal")
        return terminal_id

    async def _stop(self, terminal_id: str) -> None:
        """Kill, then ask for the output: until then the editor may not have shown the last of it."""
        await self._quietly("terminal/kill", terminal_id)
        await self._quietly("terminal/output", terminal_id)

    async def _ask(self, method: str, terminal_id: str) -> dict[str, Any]:
        answer = await self.peer.request(method, outbound.terminal(self.session_id, terminal_id))
        return answer if isinstance(answer, dict) else {}

    async def _quietly(self, method: str, terminal_id: str) -> dict[str, Any]:
        try:
            return await self._ask(method, terminal_id)
        except (RemoteError, Disconnected) as error:
            log.info("%s failed: %s", method, error)
            return {}

    async def _within(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Wait for the end of a terminal, but not for ever: an editor may never answer."""
        try:
            async with asyncio.timeout(_ENDING_SECONDS):
                return await work
        except TimeoutError:
            log.warning("the editor does not answer while a terminal ends")
            return None


def _completed(output: dict[str, Any], status: dict[str, Any], timed_out: bool, terminal_id: str) -> Completed:
    text = plain(clean(str(output.get("output") or "")))
    if output.get("truncated") is True:
        text = f"[… the beginning was left out …]\n{text}"
    known = output.get("exitStatus")
    return Completed(_exit_code(status or (known if isinstance(known, dict) else {})), text, timed_out, terminal_id)


def _exit_code(status: dict[str, Any]) -> int | None:
    """The exit code, or minus the number of the signal that ended the command; None when the editor tells neither."""
    code = status.get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    name = str(status.get("signal") or "").upper()
    known = signal.Signals.__members__.get(name) or signal.Signals.__members__.get(f"SIG{name}")
    return -known if known else None
