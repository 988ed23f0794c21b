"""A session's options in ACP's two forms, modes and config options."""

from __future__ import annotations

from typing import Any

from hermes_acp.commands.options import Options
from hermes_acp.config import Mode
from hermes_acp.protocol import outbound

_LEVEL_NAMES: dict[str, str] = {"default": "Default", "none": "Off", "xhigh": "Extra high"}

_MODE_TEXTS: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Reading runs, also by commands; everything else asks first"),
    "accept_edits": ("Accept edits", "Edits inside the workspace run too; commands that do more than read ask first"),
    "auto": ("Auto", "Edits inside the workspace and sandboxed commands run; what destroys or reaches out asks first"),
    "plan": ("Plan", "Nothing is changed or run: look, think and propose"),
}


def mode_state(options: Options) -> dict[str, Any]:
    """ACP's SessionModeState."""
    modes = [outbound.mode(mode, name, description=text) for mode, name, text in _texts(options)]
    return outbound.modes(options.mode, modes)


def config_options(options: Options) -> list[dict[str, Any]]:
    """ACP's complete list of SessionConfigOption."""
    modes = [outbound.choice(mode, name, description=text) for mode, name, text in _texts(options)]
    models = [outbound.choice(model, model) for model in options.models]
    shown = [
        outbound.select_option(
            "mode", "Mode", current=options.mode, choices=modes, category="mode", description="What runs unasked"
        ),
        outbound.select_option("model", "Model", current=options.shown, choices=models, category="model"),
    ]
    return [*shown, _thought_level(options, levels)] if (levels := options.allowed("thought_level")) else shown


def _thought_level(options: Options, levels: tuple[str, ...]) -> dict[str, Any]:
    """The option of a model that can be told how much to think."""
    return outbound.select_option(
        "thought_level",
        "Thought level",
        current=options.current("thought_level"),
        choices=[outbound.choice(level, _LEVEL_NAMES.get(level, level.capitalize())) for level in levels],
        category="thought_level",
        description="How much the model thinks before it answers",
    )


def _texts(options: Options) -> list[tuple[Mode, str, str]]:
    return [(mode, *_MODE_TEXTS[mode]) for mode in options.modes]
