"""What a session is begun with."""

from __future__ import annotations

from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings import Settings


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
