"""Puts up the sandbox of a session, where there can be one: what is hidden in it is what looks secret."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hermes_acp.config import MODES, Config, Mode, SandboxConfig
from hermes_acp.errors import ConfigError
from hermes_acp.local import paths
from hermes_acp.local.sandbox import probing, repository
from hermes_acp.local.sandbox.walls import Sandbox
from hermes_acp.tools.safety.paths import is_secret, own_folders

_PLACES = ("", ".config", ".local/share", ".local/state", ".cache")
"""Folders of the home whose entries are looked at one by one."""

_FURTHER = (
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".config/git/credentials",
    ".config/op",
    ".config/sops",
    ".config/hub",
    ".terraform.d",
    ".vault-token",
    ".thunderbird",
    ".python_history",
    ".node_repl_history",
    ".local/share/fish/fish_history",
    ".histfile",
)


def why_none(config: SandboxConfig) -> str:
    """Why commands run in no sandbox with these settings, "" when they do. Belongs in a thread the first time."""
    if config.use == "never":
        return "it is turned off by the setting sandbox.use"
    found = probing.find()
    return found if isinstance(found, str) else ""


def modes_of(config: Config, roots: tuple[Path, ...]) -> tuple[Mode, ...]:
    """The modes that a session with these settings and folders can have: `auto` only with a sandbox.

    Raises:
        ConfigError: the settings ask for what needs a sandbox, and there is none.
    """
    missing = why_none(config.sandbox)
    if missing and config.approvals.mode == "auto":
        raise ConfigError(f"approvals.mode: auto needs a sandbox, and there is none: {missing}")
    if missing and config.agent.on_ask == "allow-in-sandbox":
        raise ConfigError(f"agent.on_ask: allow-in-sandbox needs a sandbox, and there is none: {missing}")
    return tuple(mode for mode in MODES if mode != "auto" or not (missing or too_wide(roots)))


def sandbox_for(config: SandboxConfig, roots: tuple[Path, ...]) -> Sandbox | str:
    """The sandbox of a session with these folders, or why there is none."""
    found = probing.find()
    if reason := why_none(config) or too_wide(roots):
        return reason
    assert not isinstance(found, str)
    return Sandbox(found, tuple(hidden_places()), config.network, config.keep)


def too_wide(roots: tuple[Path, ...]) -> str:
    """Why a session with these folders can have no sandbox, "" when it can."""
    home = paths.real(Path(os.path.expanduser("~")))
    if any(paths.inside(home, [paths.real(root)]) for root in roots):
        return "the session's folders hold your whole home folder"
    return next(filter(None, (repository.unguarded(paths.real(root)) for root in roots)), "")


def hidden_places() -> Iterator[Path]:
    """What of the person's home, and of our own folders, no sandboxed command is to see."""
    home = Path(os.path.expanduser("~"))
    yield from own_folders()
    for place in _PLACES:
        yield from (path for path in _entries(home / place) if is_secret(path))
    yield from (home / name for name in _FURTHER)


def _entries(folder: Path) -> list[Path]:
    try:
        return [paths.decode(name) for name in _full(folder)]
    except OSError:
        return []


def _full(folder: Path) -> list[bytes]:
    raw = paths.encode(folder)
    return [os.path.join(raw, name) for name in os.listdir(raw)]
