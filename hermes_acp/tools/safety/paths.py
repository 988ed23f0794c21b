"""Which files may be touched without asking."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from hermes_acp.local.paths import inside

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "secrets.*",
    ".htpasswd",
    ".bash_history",
    ".zsh_history",
    "*.ppk",
    "*.jks",
)
SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".mozilla", ".password-store"})
_SECRET_PLACES = (
    (".config", "google-chrome"),
    (".config", "chromium"),
    (".config", "bravesoftware"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "hermes-acp"),
    (".local", "state", "hermes-acp"),
    (".local", "share", "keyrings"),
    ("library", "keychains"),
    ("library", "application support", "google", "chrome"),
    ("library", "application support", "firefox"),
    ("library", "application support", "hermes-acp"),
)
"""Folders that hold credentials, by the last parts of their paths: profiles of browsers, keyrings, our own state."""

_OWN: set[Path] = set()
_HARMLESS_NAMES = frozenset({".env.example", ".env.sample", ".env.template"})
_STEERING_FOLDERS = frozenset({".git", ".hg", ".svn", ".vscode", ".idea", ".husky", ".devcontainer"})
_OF_PROJECTS = frozenset({".hermes-acp.toml", ".mcp.json", ".envrc", ".gitmodules", ".gitconfig"})
_OF_BASH = frozenset({".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"})
_OF_SHELLS = frozenset({".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"})
_OF_DESKTOPS = frozenset({".xprofile", ".xinitrc", ".xsession", ".xsessionrc"})
_OF_PROGRAMS = frozenset({".tmux.conf", ".vimrc", ".exrc", ".pythonrc", ".inputrc"})
_STEERING_NAMES = _OF_PROJECTS | _OF_BASH | _OF_SHELLS | _OF_DESKTOPS | _OF_PROGRAMS
_STEERING_PLACES = (
    (".config", "autostart"),
    (".config", "environment.d"),
    (".config", "fish"),
    (".config", "git"),
    (".config", "nvim"),
    (".config", "systemd"),
    (".local", "bin"),
    (".local", "share", "applications"),
    ("library", "launchagents"),
)
"""Folders of a home whose files are started with the session, with a shell or as programs."""


def is_secret(path: Path) -> bool:
    """Whether the path looks like it holds credentials, by its name or one of its folders."""
    name = path.name.casefold()
    if name in _HARMLESS_NAMES:
        return False
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in SECRET_NAMES):
        return True
    parts = tuple(part.casefold() for part in path.parts)
    if any(part in SECRET_FOLDERS for part in parts) or inside(path, _OWN):
        return True
    return any(_holds(parts, place) for place in _SECRET_PLACES)


def protect(*folders: Path | None) -> None:
    """Count everything in these folders, which hold our own settings and state, among the secrets."""
    _OWN.update(folder.resolve() for folder in folders if folder is not None)


def own_folders() -> frozenset[Path]:
    """The folders that hold our own settings and state."""
    return frozenset(_OWN)


def _holds(parts: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return any(parts[at : at + len(place)] == place for at in range(len(parts)))


def steers_tools(path: Path) -> bool:
    """Whether writing there changes what other programs run: folders of version control, of editors and of hooks, and
    files that shells and agents start something by."""
    parts = tuple(part.casefold() for part in path.parts)
    if not _STEERING_FOLDERS.isdisjoint(parts) or path.name.casefold() in _STEERING_NAMES:
        return True
    return any(_holds(parts, place) for place in _STEERING_PLACES)
