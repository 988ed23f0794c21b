"""One MCP server of a session: connected by a task of its own, called from any, started again when it has gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely, within
from hermes_acp.mcp import stdio
from hermes_acp.mcp.calling import Calls, Show
from hermes_acp.mcp.hiding import without_secrets
from hermes_acp.mcp.project import Origin
from hermes_acp.mcp_servers import McpServer, ProgramServer
from hermes_acp.text import clean, plain, shorten, visible

if TYPE_CHECKING:
    import mcp_types as types

    from hermes_acp.mcp.client import Link

log = logging.getLogger(__name__)

START_SECONDS = 60.0
"""How long a server may take until it has told its tools: some download themselves first."""

_LEAVE_SECONDS = 1.2
_RELIST_SECONDS = 10.0
_LONGEST_REASON = 800

State = Literal["starting", "connected", "stopped", "failed", "closed"]
"""A stopped server is started again when it is next needed; a failed one is not."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the servers of a session run, and the session's folders, which they may ask for."""

    cwd: Path
    roots: Callable[[], tuple[Path, ...]]


class Server:
    """A server from its first start to its end.

    The package's connections are entered and left in one task; `_own` is that task.
    `state` and `reason` say how it is, `listed` are its tools as it last told them. `origin` is the project's file
    that names it, if one does: it is started only as long as that is unchanged.
    """

    def __init__(self, named: McpServer, place: Surroundings, origin: Origin | None = None) -> None:
        self.named = named
        self.origin = origin
        self.state: State = "starting"
        self.reason = ""
        self.listed: tuple[types.Tool, ...] = ()
        self.began = 0.0
        self._place = place
        self._link: Link | None = None
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._woken = asyncio.Event()
        self._stale = False
        self._lost = False
        self._starts = 0
        self._calls = Calls(named.timeout)
        self._telling: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to connect, without waiting for it."""
        self.state, self.reason = "starting", ""
        self._lost = self._stale = False
        self._starts += 1
        self._settled.clear()
        self._woken.clear()
        self.began = asyncio.get_running_loop().time()
        self._owner = asyncio.ensure_future(self._own())

    def revive(self) -> None:
        """Start it again if it has stopped."""
        if self.state == "stopped":
            self.start()

    @property
    def busy(self) -> bool:
        """Whether it is starting, or listing its tools again, since `began`."""
        return not self._settled.is_set()

    async def settled(self) -> None:
        """Wait until it is not busy."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Any], show: Show) -> ToolResult:
        """Call one of its tools; a server that has stopped is started again first.

        Cancelling tells the server, and does not wait for it.

        Raises:
            ToolError: it is not connected, has gone, is silent for too long, or answers with an error.
        """
        link = await self._connected()
        try:
            result = await self._calls.make(link, tool, arguments, show)
        except ToolError as error:
            raise ToolError(self._said(str(error))) from None
        except Exception as error:
            log.info("MCP server %s: a call failed: %s", self.shown, type(error).__name__)
            raise ToolError(await self._broken(error)) from None
        self._starts = 1
        return result

    async def close(self) -> None:
        """End the connection, and the program with all that it has started."""
        owner, self._owner = self._owner, None
        was, self.state = self.state, "closed"
        self._settled.set()
        if owner is None or owner.done():
            return
        self._woken.set()
        if was != "connected" or not await surely(_in_time(owner)):
            owner.cancel()
            await surely(asyncio.wait([owner]))

    async def _connected(self) -> Link:
        self.revive()
        await self.settled()
        if self._link is None:
            raise ToolError(f"The MCP server {self.shown} is not connected. {self.reason}".rstrip())
        return self._link

    async def _broken(self, error: Exception) -> str:
        """Why a call ended with its connection, once that is known."""
        self._note_lost()
        if self._owner is not None:
            await asyncio.wait([self._owner], timeout=_LEAVE_SECONDS + 1)
        return f"The MCP server {self.shown} has gone during the call. {self.reason}".rstrip()

    async def _own(self) -> None:
        try:
            if self.origin is not None and not await asyncio.to_thread(self.origin.unchanged):
                raise ToolError("The project has changed what it says of it, or its program. You will be asked again.")
            if isinstance(self.named, ProgramServer):
                stdio.check(self.named)
            client = await asyncio.to_thread(_load)
            watch = client.Watch(self._note_changed, self._note_lost)
            async with client.connect(self.named, self._place.cwd, self._place.roots, watch, START_SECONDS) as (
                link,
                tools,
            ):
                self._link, self.listed = link, tools
                if self.state == "starting":
                    self.state = "connected"
                self._settled.set()
                await self._attend(link)
                if self._lost:
                    raise ToolError("It closed the connection.")
        except ToolError as error:
            self._ended(str(error))
        except Exception as error:
            self._ended(client_reason(error))
        finally:
            self._link = None
            self._settled.set()

    async def _attend(self, link: Link) -> None:
        """List the tools anew whenever they have changed, until the connection is lost or to be closed."""
        while not self._lost and self.state == "connected":
            await self._woken.wait()
            self._woken.clear()
            if self._stale and not self._lost and self.state == "connected":
                self._stale = False
                await self._relist(link)
                self._settled.set()

    async def _relist(self, link: Link) -> None:
        try:
            async with asyncio.timeout(_RELIST_SECONDS):
                self.listed = await link.list_tools()
        except Exception as error:
            log.warning("MCP server %s did not list its tools again: %s", self.shown, client_reason(error))

    def _ended(self, why: str) -> None:
        """The connection is over: whether it may be made again depends on whether it ever worked."""
        if self.state == "closed":
            return
        worked = self.state == "connected"
        self.state = "stopped" if worked and self._starts < 2 else "failed"
        self.reason = self._said(why)
        log.info("MCP server %s %s: %s", self.shown, self.state, self.reason)

    def _note_changed(self) -> None:
        self._stale = True
        if self.state == "connected":
            self._settled.clear()
            self.began = asyncio.get_running_loop().time()
        self._woken.set()

    def _note_lost(self) -> None:
        self._lost = True
        self._woken.set()

    def _said(self, text: str) -> str:
        """Words of the server, fit to be shown and without what was given to it in confidence."""
        return shorten(plain(clean(without_secrets(text, self.named))), _LONGEST_REASON)

    @property
    def shown(self) -> str:
        """Its name, fit to be shown."""
        return shorten(visible(clean(self.named.name)).replace("\n", " "), 100)

    def tell_roots(self) -> None:
        """Tell it that the session's folders are others now, without waiting for it."""
        if self._link is not None:
            telling = asyncio.ensure_future(self._link.tell_roots())
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)


def _load() -> Any:
    try:
        return import_module("hermes_acp.mcp.client")
    except ImportError as error:
        raise ToolError(f"The package mcp cannot be used: {error}.") from None


def client_reason(error: Exception) -> str:
    """Why a connection failed, in the words of the module that knows the package's errors."""
    words: str = import_module("hermes_acp.mcp.client").reason(error)
    return words


async def _in_time(owner: asyncio.Task[None]) -> bool:
    return await within(_LEAVE_SECONDS, asyncio.shield(owner))
