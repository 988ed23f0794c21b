"""A command that runs on while the model does other things."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.child import Child
from hermes_acp.local.output import Recording
from hermes_acp.local.waiting import within
from hermes_acp.workspace import Look

_GRACE = 0.25


@dataclass(frozen=True, slots=True)
class BackgroundCommand:
    """See `hermes_acp.workspace.Background`. `end` ends the child and whatever it has started."""

    line: str
    child: Child
    recording: Recording
    end: Callable[[], Awaitable[None]]

    def look(self) -> Look:
        """How it is now."""
        if self.child.closed.is_set():
            self.recording.finish()
        exit_code = self.child.exit_code if self.child.exited.is_set() else None
        return Look(self.recording.text(), self.child.seconds, exit_code)

    async def wait(self, seconds: float) -> None:
        """Wait until it has ended and its output is here, but no longer than that."""
        if await within(seconds, self.child.exited.wait()):
            await within(_GRACE, self.child.closed.wait())

    async def kill(self) -> None:
        """End it, with everything it has started; also what it left when it has ended itself."""
        await self.end()
        await within(_GRACE, self.child.closed.wait())
