"""What a sandboxed command does not see: files and folders that hold secrets, and the sockets of other programs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from hermes_acp.local.paths import encode, inside

EMPTY = (Path("/tmp"), Path("/run"), Path("/var/tmp"))
"""Folders of which the sandbox has its own. `/run` is where services and the desktop have their sockets: those of the
keyring, the agents of keys, D-Bus, containers."""

_SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/ssl/private", "/root")
_KEPT_OF_RUN = (b"/run/systemd/resolve", b"/run/current-system")
"""What programs need of `/run`: names of hosts, and on NixOS the system itself."""


def emptied() -> Iterator[bytes]:
    """The options that empty the folders of sockets and temporary files."""
    for folder in dict.fromkeys(os.path.realpath(name) for name in ("/run", "/var/run", "/var/tmp")):
        if os.path.isdir(folder) and not inside(Path(folder), [Path("/tmp")]):
            yield from (b"--tmpfs", os.fsencode(folder))
    for kept in _KEPT_OF_RUN:
        yield from (b"--ro-bind-try", kept, kept)


def masks(hidden: Iterable[Path]) -> Iterator[bytes]:
    """The options that put nothing in the place of these, as far as they are there."""
    for path in hidden:
        raw = encode(path)
        try:
            mode = os.stat(raw).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            yield from (b"--tmpfs", raw, b"--remount-ro", raw)
        else:
            yield from (b"--ro-bind", b"/dev/null", raw)


def system_secrets(roots: tuple[Path, ...]) -> list[Path]:
    """What the system itself keeps secret. The home of root is, unless it is the person's own."""
    home = Path(os.path.expanduser("~"))
    places = [Path(name) for name in _SYSTEM_SECRETS if not (inside(home, [Path(name)]) or _holds(Path(name), roots))]
    return [place for place in places if os.access(place, os.R_OK)]


def sockets(roots: tuple[Path, ...], seen: Iterable[Path]) -> list[Path]:
    """The sockets that programs listen on, outside the session's folders and what is hidden anyway."""
    apart = [*EMPTY, *roots, *seen]
    try:
        with open("/proc/net/unix", "rb") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return []
    named = {fields[7] for line in lines if len(fields := line.split(maxsplit=7)) == 8 and fields[7].startswith(b"/")}
    found = {os.path.realpath(name) for name in named if _is_socket(name)}
    return [path for path in map(Path, map(os.fsdecode, sorted(found))) if not inside(path, apart)]


def _is_socket(path: bytes) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _holds(folder: Path, roots: tuple[Path, ...]) -> bool:
    return any(inside(root, [folder]) for root in roots)
