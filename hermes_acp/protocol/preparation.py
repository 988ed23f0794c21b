"""What comes between a prompt and its turn: the model, what every session needs, and what the editor is shown of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hermes_acp.events import Notice, StatusChanged
from hermes_acp.groundwork import Groundwork
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.editor_host import EditorHost


@dataclass(slots=True)
class Preparation:
    """What one session waits for and shows before a turn.

    `model_ready` waits until the model can be asked. `notices` are shown at the start of the next prompt, when the
    editor is looking; `groundwork` tells of what it finds there.
    """

    groundwork: Groundwork
    host: EditorHost
    model_ready: Callable[[], Awaitable[None]]
    notices: list[Notice]

    def show_notices(self) -> None:
        """Show what has come up since the last time."""
        for notice in self.notices:
            self.host.emit(notice)
        self.notices.clear()

    async def finish(self) -> None:
        """Have everything there that the turn needs.

        Raises:
            CredentialsMissing: there is no model to talk to.
            ConfigError: the keyring gives no key.
            TurnCancelled: the person closed a question about the project.
        """
        if told := self.groundwork.where_commands_run():
            self.host.emit(StatusChanged("sandbox", told))
        await self.model_ready()
        await self.groundwork.load_plugins()
        await self.groundwork.settle_project(self.host)
        self.show_notices()
