"""What a person can choose in a session: its mode, its model, and how much that is to think."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from hermes_acp.agent.thought_levels import DEFAULT, Levels, fitted, in_request, read_level
from hermes_acp.config import MODES, Mode, ThoughtLevel
from hermes_acp.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from hermes_acp.agent.conversation import Conversation
    from hermes_acp.assembly import Models


@dataclass(slots=True)
class Options:
    """The values a session runs with. `models` are the ones that may be chosen, `model` among them.

    `address` is where the models are; `chosen` says that the person has chosen the model there. Such a
    choice holds for as long as the address does, whether or not it is listed at the moment. `answering` is the
    reserve that answers in the model's place, "" when none does.

    `thought_level` is the one that was chosen, "" when none was: then `usual_level` holds. `levels_of` are those that a
    model takes. The choice outlasts models that take another level, or none.
    """

    mode: Mode
    model: str
    models: tuple[str, ...]
    address: str = ""
    chosen: bool = False
    answering: str = ""
    modes: tuple[Mode, ...] = MODES
    thought_level: ThoughtLevel | Literal[""] = ""
    usual_level: ThoughtLevel = DEFAULT
    levels_of: Callable[[str], Levels] = lambda model: ()

    @property
    def shown(self) -> str:
        """The model that answers."""
        return self.answering or self.model

    @property
    def effort(self) -> str:
        """How much the chosen model is to think, as requests carry it."""
        return in_request(self._level(self.model))

    def current(self, option: str) -> str:
        """The value that an option has now, as it is shown."""
        return {"mode": self.mode, "model": self.model, "thought_level": self._level(self.shown)}[option]

    def values(self) -> dict[str, str]:
        """The values by option id, as they are stored, and the address of a chosen model."""
        values = {"mode": self.mode, "model": self.model}
        values |= {"thought_level": self.thought_level} if self.thought_level else {}
        return {**values, "address": self.address} if self.chosen else values

    def offer(self, models: tuple[str, ...], address: str, levels_of: Callable[[str], Levels]) -> None:
        """Let these models be chosen, the default first, with their levels. The present one stays among those of its
        address."""
        self.levels_of = levels_of
        if address != self.address:
            self.model = self.model if self.model in models else models[0]
            self.address, self.chosen = address, False
        self.models = models if self.model in models else (self.model, *models)
        self.answering = self.answering if self.answering in self.models else ""

    def allowed(self, option: str) -> tuple[str, ...]:
        """The values an option can take; none for an option that does not exist."""
        match option:
            case "mode":
                return self.modes
            case "model":
                return self.models
            case "thought_level":
                levels = self.levels_of(self.shown)
                return (DEFAULT, *levels) if levels else ()
            case _:
                return ()

    def set(self, option: str, value: str) -> None:
        """Set an option to one of its allowed values.

        Raises:
            ValueError: there is no such option, or it cannot take the value.
        """
        if value not in self.allowed(option):
            raise ValueError(f"{option} cannot be {value!r}")
        setattr(self, option, value)
        if option == "model":
            self.chosen, self.answering = True, ""

    def switch(self, model: str) -> None:
        """Another of the models answers from here on, in place of the chosen one, or that one again."""
        self.answering = model if model != self.model and model in self.models else ""

    def hold_in(self, conversation: Conversation) -> None:
        """Let the values take effect in a conversation from its next request on."""
        conversation.approvals.mode = self.mode
        conversation.answering = self.answering
        conversation.thought_level = self.effort

    async def keep_in(self, conversation: Conversation) -> None:
        """As `hold_in`, and store them with the session.

        Raises:
            StoreError: the store cannot be used.
        """
        self.hold_in(conversation)
        conversation.journal.update(options=self.values())
        await conversation.journal.commit()

    def _level(self, model: str) -> ThoughtLevel:
        return fitted(self.thought_level or self.usual_level, self.levels_of(model))


def restore_options(models: Models, stored: Mapping[str, str], mode: Mode, modes: tuple[Mode, ...]) -> Options:
    """A session's options: what was stored as far as it still exists, else the configured model and this mode.
    `modes` are those that there are here."""
    model, address = stored.get("model", ""), models.endpoint.base_url
    chosen = bool(model) and stored.get("address") == address
    if chosen:
        models.admit(model)
    options = Options(
        mode=next((known for known in (stored.get("mode"), mode) if known in modes), modes[0]),
        model=model if models.knows(model) else models.names[0],
        models=(),
        address=address,
        chosen=chosen,
        modes=modes,
        thought_level=read_level(stored.get("thought_level", "")) or "",
        usual_level=models.config.agent.thought_level or DEFAULT,
    )
    options.offer(models.names, address, models.levels)
    return options
