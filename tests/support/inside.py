"""An editor whose agent runs in the loop of the test: every line is taken at the moment it is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_acp.agent.store.store import Store
from hermes_acp.protocol.account import Account
from hermes_acp.protocol.app import App
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.line_reader import LineReader, TooLong
from hermes_acp.protocol.line_writer import LineWriter
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.routes import Routes
from hermes_acp.protocol.server import ROUTES
from hermes_acp.protocol.sessions import Sessions
from hermes_acp.settings import load_settings
from tests.support.editor import LONGEST_LINE, Editor, agent_env

Said = tuple[str, dict[str, Any]]
"""Who said something, "agent" or "editor", and what."""


class _Reader(LineReader):
    """What the editor sends, handed on line by line."""

    def __init__(self, wire: list[Said]) -> None:
        self._wire = wire

    def start(
        self, on_line: Callable[[bytes | TooLong], None], on_end: Callable[[], None], leftover: bytes = b""
    ) -> None:
        self._on_line = on_line

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            self._wire.append(("editor", json.loads(line)))
            self._on_line(line)

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class _Writer(LineWriter):
    """What the agent says, for an editor that always keeps up."""

    def __init__(self, lines: asyncio.StreamReader, wire: list[Said]) -> None:
        self._lines = lines
        self._wire = wire

    @property
    def unsent(self) -> int:
        return 0

    def start(self, on_lost: Callable[[], None]) -> None: ...

    def write(self, line: bytes) -> None:
        self._wire.append(("agent", json.loads(line)))
        self._lines.feed_data(line)

    async def drained(self) -> None: ...

    async def subsided(self) -> None: ...

    async def flush(self) -> None: ...

    def close(self) -> None:
        self._lines.feed_eof()


@dataclass
class _Here:
    """The agent as the editor knows it: it is no process of its own."""

    stdin: _Reader
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    pid: int = 0
    returncode: int | None = 0

    async def wait(self) -> int:
        return 0


class Insider(Editor):
    """`app` is the agent's own side: what it holds can be looked at. `wire` is all that was said on both sides, in the
    order in which it was said."""

    def __init__(self, home: Path, model_url: str, capabilities: dict[str, Any]) -> None:
        self.wire: list[Said] = []
        said, errors = asyncio.StreamReader(limit=LONGEST_LINE), asyncio.StreamReader()
        wrote = _Reader(self.wire)
        super().__init__(_Here(wrote, said, errors), "")
        env = agent_env(home, model_url)
        client = ClientCapabilities.of({"clientCapabilities": capabilities})
        store, account = Store(home / "state.db"), Account(lambda: load_settings({}, env))
        self.peer = Peer(wrote, _Writer(said, self.wire), Routes(ROUTES))
        self.app = App(Sessions(store, account, self.peer, client), store, account)
        self._errors_end = errors.feed_eof

    async def leave(self) -> None:
        """Hang up; the agent has closed everything."""
        self.peer.close()
        self._errors_end()
        await self.serving
        await asyncio.wait(self._tasks)

    def serve(self) -> None:
        """Begin."""
        self.app.store.begin()
        self.serving = asyncio.create_task(self.peer.run(self.app))


@asynccontextmanager
async def open_inside(home: Path, model_url: str, capabilities: dict[str, Any] | None = None) -> AsyncIterator[Insider]:
    """Such an editor, with these capabilities; on leaving, every line must have been right."""
    editor = Insider(home, model_url, capabilities or {})
    editor.serve()
    await asyncio.sleep(0)
    try:
        await editor.initialize(capabilities)
        yield editor
        editor.assert_clean()
    finally:
        await editor.leave()
