"""What a session is begun with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hermes_acp.config import Config
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings import Settings

_OPTIONS = {"mode": "approvals.mode", "model": "model.name", "thought_level": "agent.thought_level"}
"""The setting that goes before a stored option when it was given."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings, and what of them goes before what a stored session has.

    `cwd` is the folder, None for this process's own; `session_id` names a stored session, None begins one.
    `save_trajectories`: whether each turn is appended to a file in this process's working folder; None: as the settings
    say. `given` are the dotted keys of the settings that were said for this session alone. `has_key`: whether its key
    was.
    """

    settings: Settings
    cwd: Path | None = None
    session_id: str | None = None
    save_trajectories: bool | None = None
    given: frozenset[str] = frozenset()
    has_key: bool = False

    def not_given(self, options: Mapping[str, str]) -> dict[str, str]:
        """What a session has stored of its options, as far as nothing goes before it."""
        return {name: value for name, value in options.items() if _OPTIONS.get(name) not in self.given}

    def trajectories(self, config: Config) -> Path | None:
        """The folder that keeps the trajectories of a session with these settings: the process's own when they were
        asked for here, else as the settings say; None: they are not kept."""
        if self.save_trajectories is not None:
            return Path() if self.save_trajectories else None
        return self.settings.home.state if config.trajectories.save else None
