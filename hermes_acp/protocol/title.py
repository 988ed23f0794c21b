"""A session's title: first the beginning of its first prompt, later what its model calls it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hermes_acp.agent.record import Record
from hermes_acp.agent.store.records import now
from hermes_acp.agent.titles import first_title
from hermes_acp.errors import HermesError
from hermes_acp.protocol.editor_host import EditorHost
from hermes_acp.protocol.outbound import session_info_update

QUIET = 0.5
"""Seconds without a prompt after which the model may be asked: small servers answer one request at a time."""

LONGEST = 10.0
"""Seconds that the model may take."""

log = logging.getLogger(__name__)


class Title:
    """The title, where it is stored and where it is shown. `text` is "" as long as there is none.

    The model is asked at most once, and not at all for a session that came with a title. What goes wrong
    with that goes to the log.
    """

    def __init__(self, text: str, journal: Record, host: EditorHost) -> None:
        self.text = text
        self._journal = journal
        self._host = host
        self._asked = bool(text)
        self._task: asyncio.Task[None] | None = None

    def begin(self, prompt: str) -> None:
        """Take the first words of a prompt, unless there is a title."""
        text = first_title(prompt)
        if self.text or not text:
            return
        self.text = text
        self._journal.update(title=self.text)
        self._host.update(session_info_update(self.text, updated_at=now()))

    def seek(self, ask: Callable[[], Awaitable[str]]) -> None:
        """A turn has been answered: ask the model soon, unless that was done. `ask` returns "" for no title."""
        if not self._asked and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._find(ask))

    def leave(self) -> None:
        """A prompt has come, or the session ends: keep off the model."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _find(self, ask: Callable[[], Awaitable[str]]) -> None:
        await asyncio.sleep(QUIET)
        self._asked = True
        try:
            async with asyncio.timeout(LONGEST):
                title = await ask()
            if title and title != self.text:
                await self._change(title)
        except (HermesError, TimeoutError) as error:
            log.info("the model gave no title: %s", error or "it took too long")
        except Exception:
            log.exception("the model gave no title")

    async def _change(self, text: str) -> None:
        self.text = text
        self._journal.update(title=text)
        self._host.update(session_info_update(text))
        await self._journal.commit()
