"""A session's options as the editor is shown them, in both of ACP's forms, and where they take effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import field
from typing import Any

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.thought_levels import Levels
from hermes_acp.commands.options import Options
from hermes_acp.config import Mode
from hermes_acp.errors import StoreError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely
from hermes_acp.protocol.editor_host import EditorHost
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.options import config_options, mode_state
from hermes_acp.protocol.outbound import config_option_update, current_mode_update


@dataclass(slots=True)
class ShownOptions:
    """The options of one session; they hold in its conversation, are stored with it and shown by `host`."""

    options: Options
    conversation: Conversation
    host: EditorHost
    _known: bool = False
    _told: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host.switched = self._switched
        self.conversation.mode_entered = self._mode_entered
        self.options.hold_in(self.conversation)

    def state(self) -> dict[str, Any]:
        """What new, load, resume and fork answer with."""
        self._told = config_options(self.options)
        return {"modes": mode_state(self.options), "configOptions": self._told}

    def appear(self) -> None:
        """The editor has been told of the session: only from here on it may be sent changes."""
        self._known = True
        self._tell_changes()

    def offer_models(self, models: tuple[str, ...], address: str, levels_of: Callable[[str], Levels]) -> None:
        """Let these models of this address be chosen, with the thought levels that each takes."""
        self.options.offer(models, address, levels_of)
        self.options.hold_in(self.conversation)
        self._tell_changes()

    async def set(self, option: str, value: str, field_name: str) -> None:
        """Set an option and store it. It holds from now on, and is shown at once where that is not to be told.

        Raises:
            RpcError: the option cannot take the value; `field_name` is the parameter to name.
            StoreError: it cannot be stored now; the next commit stores it.
        """
        try:
            self.options.set(option, value)
        except ValueError as error:
            raise invalid_params(f"{field_name}: {error}") from None
        try:
            await surely(self.options.keep_in(self.conversation))
        except (StoreError, asyncio.CancelledError):
            self.announce()
            raise

    def announce(self) -> None:
        """Tell the editor the options as they are, in both forms."""
        self.host.update(current_mode_update(self.options.mode))
        self._tell()

    def _switched(self, model: str) -> None:
        """Show which model answers from here on."""
        self.options.switch(model)
        self._tell()

    def _mode_entered(self, mode: Mode) -> None:
        """Show a mode that the person has agreed to in the middle of a turn; its step stores it."""
        self.options.mode = mode
        self.conversation.journal.update(options=self.options.values())
        self.announce()

    def _tell_changes(self) -> None:
        if self._known and self._told != config_options(self.options):
            self._tell()

    def _tell(self) -> None:
        self._told = config_options(self.options)
        self.host.update(config_option_update(self._told))
