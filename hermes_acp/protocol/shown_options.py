"""A session's options as the editor is shown them, in both of ACP's forms, and where they take effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermes_acp.agent.conversation import Conversation
from hermes_acp.commands.options import Options
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
    _models_told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.host.switched = self._switched

    def state(self) -> dict[str, Any]:
        """What new, load, resume and fork answer with."""
        self._models_told = self.options.models
        return {"modes": mode_state(self.options), "configOptions": config_options(self.options)}

    def appear(self) -> None:
        """The editor has been told of the session: only from here on it may be sent changes."""
        self._known = True
        self._tell_models()

    def offer_models(self, models: tuple[str, ...], address: str) -> None:
        """Let these models of this address be chosen."""
        self.options.offer(models, address)
        self.conversation.answering = self.options.answering
        self._tell_models()

    async def set(self, option: str, value: str, field_name: str) -> None:
        """Set an option and store it.

        Raises:
            RpcError: the option cannot take the value; `field_name` is the parameter to name.
        """
        try:
            self.options.set(option, value)
        except ValueError as error:
            raise invalid_params(f"{field_name}: {error}") from None
        self.conversation.approvals.mode = self.options.mode
        self.conversation.answering = self.options.answering
        self.conversation.journal.update(options=self.options.values())
        await self.conversation.journal.commit()

    def announce(self) -> None:
        """Tell the editor the options as they are, in both forms."""
        self.host.update(current_mode_update(self.options.mode))
        self.host.update(config_option_update(config_options(self.options)))

    def _switched(self, model: str) -> None:
        """Show which model answers from here on."""
        self.options.switch(model)
        self.host.update(config_option_update(config_options(self.options)))

    def _tell_models(self) -> None:
        if self._known and self._models_told != self.options.models:
            self._models_told = self.options.models
            self.host.update(config_option_update(config_options(self.options)))
