"""How much models can be told to think: the levels that each takes, as far as its name or its server tells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_acp.agent.anthropic_models import FIRST_ADAPTIVE, version_of
from hermes_acp.config import THOUGHT_LEVELS, AgentConfig, ThoughtLevel

Levels = tuple[ThoughtLevel, ...]

DEFAULT: ThoughtLevel = "default"
"""As much as the model thinks by itself."""

COMMON: Levels = ("low", "medium", "high")

_FIRST_THINKING = (3, 7)
"""From this version on a Claude model can think."""

_BY_NAME: tuple[tuple[str, Levels], ...] = (
    (r"gpt-[\d.]+-chat|o1-(mini|preview)", ()),
    (r"gpt-5-pro", ("high",)),
    (r"gpt-5(\.[01])?-codex(?!-max)|codex-mini|gpt-oss|o\d+(?![\w.])", COMMON),
    (r"gpt-5\.[2-9]|gpt-5\.1-codex-max|gpt-([6-9]|\d\d)", ("none", *COMMON, "xhigh")),
    (r"gpt-5\.1", ("none", *COMMON)),
    (r"gpt-5", ("minimal", *COMMON)),
    (r"gemini-.*(image|tts|live)", ()),
    (r"gemini-(2\.5|[3-9]|\d\d)", COMMON),
    (r"grok-3-mini", ("low", "high")),
    (r"gpt-|chatgpt-|gemini-|grok-", ()),
)
"""The first that a name begins with counts. A name that is not here tells nothing."""


def levels_of(model: str, reasons: bool | None = None, unknown: Levels = ()) -> Levels:
    """The levels that a model takes; none for one that cannot be told how much to think.

    Args:
        model: its name.
        reasons: whether it does, as its server tells; None: it does not tell.
        unknown: those of a model of which nothing is known.
    """
    if reasons is False:
        return ()
    named = _named(model)
    if named is not None:
        return named
    return COMMON if reasons else unknown


def unknown_levels(config: AgentConfig) -> Levels:
    """Those of a model of which nothing is known: a person whose settings say a level says that it takes one."""
    return () if config.thought_level is None else COMMON


def fitted(wanted: ThoughtLevel, levels: Sequence[ThoughtLevel]) -> ThoughtLevel:
    """The one of a model's levels that is nearest to the wanted one; the default where it takes none.

    A model that is to think a little is not told not to think.
    """
    near = [level for level in levels if level == wanted or level != "none"]
    if wanted == DEFAULT or not near:
        return DEFAULT
    place = THOUGHT_LEVELS.index(wanted)
    return min(near, key=lambda level: abs(THOUGHT_LEVELS.index(level) - place))


def in_request(level: ThoughtLevel) -> str:
    """A level as requests carry it: "" leaves it to the model."""
    return "" if level == DEFAULT else level


def read_level(text: str) -> ThoughtLevel | None:
    """The level of this name; None when there is none."""
    return next((level for level in THOUGHT_LEVELS if level == text), None)


def _named(model: str) -> Levels | None:
    if version := version_of(model):
        most: Levels = ("max",) if version >= FIRST_ADAPTIVE else ()
        return ("none", *COMMON, *most) if version >= _FIRST_THINKING else ()
    name = model.rsplit("/", 1)[-1].lower()
    return next((levels for pattern, levels in _BY_NAME if re.match(pattern, name)), None)
