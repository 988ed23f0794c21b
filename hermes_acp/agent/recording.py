"""A host that writes down what the person is shown, on its way to the host that shows it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from hermes_acp.agent.abridging import for_transcript
from hermes_acp.agent.record import Record
from hermes_acp.agent.store.codec import recorded
from hermes_acp.errors import StoreError
from hermes_acp.events import Event, ReasoningDelta, TextDelta
from hermes_acp.host import Answer, ApprovalRequest, Host, Question
from hermes_acp.local.waiting import surely

FLUSH_SECONDS = 0.5
"""How much of what was shown a crash may lose, where it was not acknowledged yet."""

log = logging.getLogger(__name__)


class RecordedHost:
    """The transcript's writer: every fact goes into the journal first, then to `host`."""

    def __init__(self, host: Host, journal: Record) -> None:
        self._host = host
        self._journal = journal
        self._pieces: list[str] = []
        self._open: TextDelta | ReasoningDelta | None = None
        self._due: asyncio.TimerHandle | None = None
        self._commits: set[asyncio.Task[None]] = set()
        self._trouble = ""

    @property
    def audience(self) -> Host:
        """The host behind, for what is shown here and recorded by somebody else."""
        return self._host

    def emit(self, event: Event) -> None:
        self.record(event)
        self._host.emit(event)

    def record(self, event: Event) -> None:
        """Write the fact down without showing it."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._keep)
        if isinstance(event, TextDelta | ReasoningDelta):
            self._record_delta(event)
        elif recorded(event):
            self.flush()
            self._journal.add_event(for_transcript(event))

    async def acknowledge(self, *events: Event) -> None:
        """Show facts that promise something is kept: only after they are on disk.

        Raises:
            StoreError: they could not be stored; they are shown all the same.
        """
        if not events:
            return
        for event in events:
            self.record(event)
        try:
            await surely(self._journal.commit())
        finally:
            for event in events:
                self._host.emit(event)

    async def stored(self) -> None:
        """Wait until all that was shown so far is on disk: what comes next must not outlive the record of it.

        Raises:
            StoreError: it could not be stored.
        """
        self.flush()
        await surely(self._journal.commit())

    def flush(self) -> None:
        """Hand the text that has streamed so far to the journal."""
        if self._open is not None and self._pieces:
            self._journal.add_event(replace(self._open, text="".join(self._pieces)))
        self._pieces.clear()
        self._open = None

    async def ready(self) -> None:
        await self._host.ready()

    async def approve(self, request: ApprovalRequest) -> Answer:
        return await self._host.approve(request)

    async def clarify(self, question: Question) -> str | None:
        return await self._host.clarify(question)

    def _record_delta(self, event: TextDelta | ReasoningDelta) -> None:
        if self._open is None or self._open.message_id != event.message_id:
            self.flush()
            self._open = event
        self._pieces.append(event.text)

    def _keep(self) -> None:
        """Store what was shown so far: the model may be silent for long, and a question open for longer."""
        self._due = None
        self.flush()
        if self._journal.settled:
            return
        task = asyncio.get_running_loop().create_task(self._commit())
        self._commits.add(task)
        task.add_done_callback(self._commits.discard)

    async def _commit(self) -> None:
        try:
            await self._journal.commit()
        except StoreError as error:
            if self._trouble != str(error):
                log.warning("The text so far could not be stored: %s", error)
            self._trouble = str(error)
