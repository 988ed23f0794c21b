"""The cards of calls that a model is still writing: each one is completed or closed, never left behind."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hermes_acp.agent.conversation import Toolbox
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.cards import ToolResult
from hermes_acp.events import StatusChanged, ToolDrafted, ToolFinished, ToolPrepared

_NOT_RUN = ToolResult("The reply ended without this call; it was not run.", is_error=True)


class Drafts:
    """The drafted calls of one reply."""

    def __init__(self, host: RecordedHost, toolbox: Toolbox) -> None:
        self._host = host
        self._toolbox = toolbox
        self._open: dict[str, ToolDrafted] = {}

    def open(self, draft: ToolDrafted) -> None:
        """Show the card of a call whose name is known."""
        if not self._open:
            self._host.emit(StatusChanged("calling"))
        tool = self._toolbox.get(draft.name)
        if tool is not None:
            draft = replace(draft, kind=tool.kind, title=tool.label)
        self._open[draft.call_id] = replace(draft, title=draft.title or draft.name or "?")
        self._host.emit(self._open[draft.call_id])

    async def drop(self, finished: ToolFinished) -> None:
        """Close one draft that a broken attempt left behind."""
        draft = self._open.pop(finished.call_id, None)
        if draft is None:
            return
        self._host.emit(ToolPrepared(draft.call_id, draft.name, draft.kind, draft.title))
        await self._host.acknowledge(finished)

    async def close(self, but: Collection[str] = ()) -> None:
        """Close every draft that is still open, but those of these calls: they are for the caller to end."""
        for draft in [draft for call_id, draft in self._open.items() if call_id not in but]:
            await self.drop(ToolFinished(draft.call_id, draft.name, _NOT_RUN))
