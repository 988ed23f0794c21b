"""`hermes-acp trust`: what of projects may instruct the agent or be started; lists it, adds to it, takes it back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hermes_acp.agent.skills import SKILL_FILE
from hermes_acp.agent.trust import Trust, digest_at
from hermes_acp.agent.trusting import brought_texts
from hermes_acp.errors import ConfigError
from hermes_acp.local import paths
from hermes_acp.mcp.project import PROJECT_SERVERS
from hermes_acp.settings import load_settings
from hermes_acp.text import visible

_USAGE = "trust [list | add PATH | remove PATH]: PATH is a file for agents, a skill, a .mcp.json, or a project's folder"


def run(arguments: Sequence[str], name: str = "trust") -> int:
    """List, add or remove; 0 when it was done, 1 when there was nothing to do.

    Raises:
        ConfigError: the arguments are others, a setting is wrong, or the answer cannot be kept.
    """
    trust = Trust(load_settings({}, os.environ).home.trust_file)
    try:
        return _run(trust, arguments)
    except OSError as error:
        raise ConfigError(f"{trust.file}: {error.strerror}") from None


def _run(trust: Trust, arguments: Sequence[str]) -> int:
    match list(arguments):
        case [] | ["list"]:
            return _list(trust)
        case ["add", path]:
            return _add(trust, paths.real(Path(path).absolute()))
        case ["remove", path]:
            return 0 if trust.remove(str(paths.real(Path(path).absolute()))) else _nothing(path)
        case _:
            raise ConfigError(_USAGE)


def _list(trust: Trust) -> int:
    for path, digest in sorted(trust.trusted().items()):
        state = "trusted" if digest_at(Path(path)) == digest else "changed"
        sys.stdout.write(f"{state:<8} {visible(path)}\n")
    for folder in trust.refused():
        sys.stdout.write(f"{'never':<8} {visible(folder)}\n")
    return 0


def _add(trust: Trust, path: Path) -> int:
    found = {str(one): digest for one in _brought(path) if (digest := digest_at(one))}
    if not found:
        return _nothing(str(path))
    trust.remove(str(path))
    trust.add(found)
    return _list(trust)


def _brought(path: Path) -> list[Path]:
    """What is named by a path: a file or a skill itself, or all that a project in this folder brings."""
    if not path.is_dir() or (path / SKILL_FILE).is_file():
        return [path]
    return [*(one.path for one in brought_texts((path,))), path / PROJECT_SERVERS]


def _nothing(path: str) -> int:
    sys.stderr.write(f"Nothing is known of {visible(path)}.\n")
    return 1
