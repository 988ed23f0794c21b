"""The connection to an MCP server, by the mcp package: greeting, list of tools, calls.

Only this module and what it alone imports need the package; import it in a thread, it takes half a second.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession, IncomingMessage, ListRootsFnT, MessageHandlerFnT
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import McpHttpClientFactory
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from hermes_acp import __version__
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.reading import read_message
from hermes_acp.mcp.results import read_result
from hermes_acp.mcp.stdio import LONGEST_LINE, Program, running
from hermes_acp.mcp_servers import McpServer, ProgramServer, RemoteServer

log = logging.getLogger(__name__)

MOST_PAGES = 50
_CONNECT_SECONDS = 30.0

Streams = tuple[Any, Any]
"""A stream of `SessionMessage | Exception` to read and one of `SessionMessage` to write, as the package has them."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Whom a connection tells: the tools are others now, and: it is lost."""

    changed: Callable[[], None]
    lost: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Link:
    """An open connection; it may be used from any task."""

    session: ClientSession

    async def list_tools(self) -> tuple[types.Tool, ...]:
        """All tools of the server.

        Raises:
            MCPError: it does not give them.
        """
        capabilities = self.session.server_capabilities
        if capabilities is None or capabilities.tools is None:
            return ()
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return tuple(found)

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: ProgressFnT) -> ToolResult:
        """Call a tool. A cancelled call is cancelled at the server.

        Its own form of the results is not checked: patterns of a server must not run over what it sends.

        Raises:
            ToolError: the server answers with an error.
            Exception: the connection does not work.
        """
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            answer = await self.session.send_request(
                types.CallToolRequest(params=params), types.CallToolResult, progress_callback=progress
            )
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED and error.message == "Connection closed":
                raise
            raise ToolError(error.message or f"error {error.code}") from None
        except ValueError as error:
            log.info("an answer of an MCP server cannot be read: %s", error)
            raise ToolError("The answer cannot be read by the rules of the protocol.") from None
        return await read_result(answer)

    async def tell_roots(self) -> None:
        """Tell the server that the session's folders are others now; one that has gone need not know."""
        with suppress(MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.session.send_notification(types.RootsListChangedNotification())


@asynccontextmanager
async def connect(
    server: McpServer, cwd: Path, roots: Callable[[], tuple[Path, ...]], watch: Watch, seconds: float
) -> AsyncIterator[tuple[Link, tuple[types.Tool, ...]]]:
    """A connection to a server, greeted, and its tools. To be entered and left in one task.

    Args:
        server: whom to connect to.
        cwd: the folder that a program is started in.
        roots: the session's folders whenever the server asks.
        watch: whom to tell of what happens later.
        seconds: how long the beginning may take.

    Raises:
        ToolError: the program cannot be started.
        TimeoutError: the server has not answered in time.
        Exception: it has answered with an error, or has gone.
    """
    async with AsyncExitStack() as stack:
        async with asyncio.timeout(seconds):
            read, write = await stack.enter_async_context(_streams(server, cwd, watch))
            session = ClientSession(
                read,
                write,
                client_info=types.Implementation(name="hermes-acp", version=__version__),
                list_roots_callback=_roots_answer(roots),
                message_handler=_listener(watch),
            )
            link = Link(await stack.enter_async_context(session))
            await _greet(session)
            tools = await link.list_tools()
        yield link, tools


async def _greet(session: ClientSession) -> None:
    """The handshake that all servers know; one that refuses it may know only the newer one."""
    try:
        await session.initialize()
    except MCPError as refusal:
        if refusal.code == types.CONNECTION_CLOSED:
            raise
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValueError):
            raise refusal from None


def _listener(watch: Watch) -> MessageHandlerFnT:
    async def take(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            watch.changed()

    return take


def _roots_answer(roots: Callable[[], tuple[Path, ...]]) -> ListRootsFnT:
    async def answer(context: ClientRequestContext) -> types.ListRootsResult | types.ErrorData:
        return types.ListRootsResult.model_validate({"roots": [{"uri": root.as_uri()} for root in roots()]})

    return answer


def _streams(server: McpServer, cwd: Path, watch: Watch) -> AbstractAsyncContextManager[Streams]:
    if isinstance(server, ProgramServer):
        return _program_streams(server, cwd, watch)
    return _remote_streams(server)


@asynccontextmanager
async def _program_streams(server: ProgramServer, cwd: Path, watch: Watch) -> AsyncIterator[Streams]:
    async with running(server, cwd, watch.lost) as program:
        told, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        async with told, read, write, to_send:
            pumps = [asyncio.ensure_future(_read(program, told)), asyncio.ensure_future(_write(program, to_send))]
            try:
                yield read, write
            except Exception as error:
                raise ToolError(_with_ending(error, program)) from error
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.wait(pumps)


def _with_ending(error: Exception, program: Program) -> str:
    return " ".join(filter(None, (reason(error), program.how_it_ended())))


async def _read(program: Program, told: Any) -> None:
    """Hand on what the program says; what is no message is told as an exception, and its end as the end.

    A message that is too long ends the connection: nobody can say which call waits for it, and it would in vain.
    """
    async with told:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while line := await _line(program):
                if line.strip():
                    await told.send(read_message(line))


async def _line(program: Program) -> bytes:
    try:
        return await program.lines.readline()
    except ValueError:
        program.fault = f"It sent a message of more than {LONGEST_LINE // 2**20} MiB."
        return b""


async def _write(program: Program, to_send: Any) -> None:
    async for message in to_send:
        program.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())


@asynccontextmanager
async def _remote_streams(server: RemoteServer) -> AsyncIterator[Streams]:
    http = await asyncio.to_thread(_http_client, server)
    if server.kind == "sse":
        async with sse_client(server.url, httpx_client_factory=_given(http)) as streams:
            yield streams
        return
    async with http, streamable_http_client(server.url, http_client=http) as streams:
        yield streams


def _given(http: httpx2.AsyncClient) -> McpHttpClientFactory:
    def make(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return http

    return make


def _http_client(server: RemoteServer) -> httpx2.AsyncClient:
    """Proxies of the environment are not used for this machine itself.

    Raises:
        ToolError: a variable that holds a header is not set.
    """
    parts = urlsplit(server.url)
    host = parts.hostname or ""
    is_local = parts.scheme == "http" and (host in ("localhost", "::1") or host.startswith("127."))
    return httpx2.AsyncClient(
        headers=_headers(server),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
        trust_env=not is_local,
        event_hooks={"response": [_see_login]},
    )


async def _see_login(response: httpx2.Response) -> None:
    """The package tells of no status; this one the person can do something about."""
    if response.status_code in (401, 403):
        raise ToolError(f"It asks for a login (HTTP status {response.status_code}); give it a header that holds a key.")


def _headers(server: RemoteServer) -> list[tuple[str, str]]:
    for _, name in server.headers_env:
        if not os.environ.get(name):
            raise ToolError(f"The variable {name}, which holds a header, is not set.")
    return [*server.headers, *((header, os.environ[name]) for header, name in server.headers_env)]


def reason(error: BaseException) -> str:
    """Why a connection failed, for a person."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case ToolError():
            return str(error)
        case MCPError() if error.code == types.CONNECTION_CLOSED:
            return "It closed the connection."
        case MCPError():
            return f"It answered with an error: {error.message}"
        case httpx2.HTTPStatusError():
            return f"It answered with HTTP status {error.response.status_code}."
        case httpx2.HTTPError():
            return f"It cannot be reached ({type(error).__name__})."
        case TimeoutError():
            return "It did not answer in time."
        case ValueError():
            return "It answered something that is not the protocol."
    return f"It failed ({type(error).__name__})."
