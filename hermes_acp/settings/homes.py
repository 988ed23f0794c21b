"""Where the person's settings and the agent's state are kept on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import platformdirs

from hermes_acp.lazy_dataclasses import dataclass

_NAME = "hermes-acp"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of the settings and the folder of the state; None when this user has no place for them."""

    config: Path | None
    state: Path | None

    @property
    def config_file(self) -> Path | None:
        """The person's settings."""
        return self.config and self.config / "config.toml"

    @property
    def credentials_file(self) -> Path | None:
        """The keys that `setup` stored."""
        return self.config and self.config / "credentials.json"

    @property
    def database(self) -> Path | None:
        """The sessions."""
        return self.state and self.state / "sessions.db"

    @property
    def trust_file(self) -> Path | None:
        """What the person has said of what projects bring."""
        return self.state and self.state / "trust.json"

    @property
    def signed_out_file(self) -> Path | None:
        """There after a logout, gone after the next login."""
        return self.state and self.state / "signed-out"


def find_home(environ: Mapping[str, str]) -> Home:
    """The home that `HERMES_ACP_HOME` names, or the folders that this system has for such things."""
    named = environ.get("HERMES_ACP_HOME", "").strip()
    if named:
        folder = _absolute(lambda: Path(named))
        return Home(folder, folder)
    return Home(
        _absolute(lambda: platformdirs.user_config_path(_NAME, appauthor=False)),
        _absolute(lambda: platformdirs.user_state_path(_NAME, appauthor=False)),
    )


def _absolute(find: Callable[[], Path]) -> Path | None:
    """The path in full; None when it starts in a home folder that nobody can name, or in a folder that is gone."""
    try:
        return find().expanduser().absolute()
    except (RuntimeError, OSError):
        return None
