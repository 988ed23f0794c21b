"""A session's modes and config options: one state, shown in ACP's two forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hermes_acp.config import MODES, Mode
from hermes_acp.protocol import outbound

_MODE_TEXTS: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Reading runs, also by commands; everything else asks first"),
    "accept_edits": ("Accept edits", "Edits inside the workspace run too; commands that do more than read ask first"),
    "plan": ("Plan", "Nothing is changed or run: look, think and propose"),
}


@dataclass(slots=True)
class Options:
    """The values a session runs with. `models` are the ones that may be chosen, `model` among them.

    `address` is where the models are; `chosen` says that the person has chosen the model there. Such a
    choice holds for as long as the address does, whether or not it is listed at the moment. `answering` is the
    reserve that answers in the model's place, "" when none does.
    """

    mode: Mode
    model: str
    models: tuple[str, ...]
    address: str = ""
    chosen: bool = False
    answering: str = ""

    @property
    def shown(self) -> str:
        """The model that answers."""
        return self.answering or self.model

    def values(self) -> dict[str, str]:
        """The present values by option id, as they are stored, and the address of a chosen model."""
        values = {"mode": self.mode, "model": self.model}
        return {**values, "address": self.address} if self.chosen else values

    def offer(self, models: tuple[str, ...], address: str) -> None:
        """Let these models be chosen, the default first. The present one stays among those of its address."""
        if address != self.address:
            self.model = self.model if self.model in models else models[0]
            self.address, self.chosen = address, False
        self.models = models if self.model in models else (self.model, *models)
        self.answering = self.answering if self.answering in self.models else ""

    def allowed(self, option: str) -> tuple[str, ...]:
        """The values an option can take; none for an option that does not exist."""
        match option:
            case "mode":
                return MODES
            case "model":
                return self.models
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


def mode_state(options: Options) -> dict[str, Any]:
    """ACP's SessionModeState."""
    return outbound.modes(options.mode, [outbound.mode(mode, name, description=text) for mode, name, text in _texts()])


def config_options(options: Options) -> list[dict[str, Any]]:
    """ACP's complete list of SessionConfigOption."""
    modes = [outbound.choice(mode, name, description=text) for mode, name, text in _texts()]
    models = [outbound.choice(model, model) for model in options.models]
    return [
        outbound.select_option(
            "mode", "Mode", current=options.mode, choices=modes, category="mode", description="What runs unasked"
        ),
        outbound.select_option("model", "Model", current=options.shown, choices=models, category="model"),
    ]


def _texts() -> list[tuple[Mode, str, str]]:
    return [(mode, *_MODE_TEXTS[mode]) for mode in MODES]
