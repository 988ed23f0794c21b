"""A model server in a thread of its own, for tests that do not run in a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from tests.fakes.model_server import ModelServer

PATIENCE = 10.0


@contextmanager
def model_thread() -> Iterator[ModelServer]:
    """A running server; its records may be read from any thread."""
    server = ModelServer()
    started, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with server:
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: _run(loop, serve()), daemon=True)
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)


def _run(loop: asyncio.AbstractEventLoop, main: Coroutine[None, None, None]) -> None:
    try:
        loop.run_until_complete(main)
    finally:
        loop.close()
