"""How far a command may reach unasked: the session's folders, and in them nothing that looks secret."""

from __future__ import annotations

import os
from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import paths
from hermes_acp.local.paths import inside
from hermes_acp.text import clean
from hermes_acp.tools.safety.paths import is_secret

_NOWHERE = ("-", "/dev/null")


class Unproven(Exception):
    """It cannot be told that a command only reads what may be read; the text says why."""


class ReachesOut(Unproven):
    """The only thing against a command is that it reads outside the session's folders."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a command stands, and the folders of its session; all paths are real ones."""

    cwd: Path
    roots: tuple[Path, ...]

    def check(self, written: str) -> Path:
        """The real path of what a command is to read.

        Raises:
            ReachesOut: it is outside the session's folders.
            Unproven: it looks like it holds secrets.
        """
        path = paths.real(self.cwd / written)
        if written in _NOWHERE:
            return path
        if is_secret(path) or is_secret(self.cwd / written):
            raise Unproven(f"{clean(path.name)} looks like it holds secrets")
        if not inside(path, self.roots):
            raise ReachesOut(f"{clean(str(path))} is outside the session's folders")
        return path

    def program(self, name: str, path: str) -> str:
        """The absolute path of the program that a shell with this PATH would start.

        Raises:
            Unproven: there is none, or it may have been put there by the session.
        """
        for folder in path.split(":"):
            found = os.path.join(self.cwd, folder, name)
            if not (os.path.isfile(paths.encode(found)) and os.access(paths.encode(found), os.X_OK)):
                continue
            if not os.path.isabs(folder) or any(inside(each, self.roots) for each in _on_the_way(found)):
                raise Unproven(f"{name} is a program of the session's own folders")
            return found
        raise Unproven(f"the program {name} is not installed")


def _on_the_way(program: str) -> tuple[Path, Path]:
    return paths.real(Path(program)), paths.real(Path(program).parent)
