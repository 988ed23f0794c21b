"""What disk and editor held of each file when it was last looked at, and which of them is right by now."""

from __future__ import annotations

import hashlib
from dataclasses import field
from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Look:
    """What disk and editor held when a file was last looked at, and which of them was right."""

    disk: bytes
    held: bytes
    disk_was_right: bool
    commands: int


@dataclass(slots=True)
class Memory:
    """The last look at each file, and how many commands of ours have run."""

    _looks: dict[Path, _Look] = field(default_factory=dict)
    _commands: int = 0

    def note(self, path: Path, disk: bytes | None, held: bytes, *, disk_is_right: bool) -> None:
        """The file was looked at; `disk` is None when it was not on the disk."""
        self._looks[path] = _Look(_digest(disk), _digest(held), disk_is_right, self._commands)

    def command_ran(self) -> None:
        """A command of ours ran, and may have changed any file on the disk."""
        self._commands += 1

    def disk_is_right(self, path: Path, disk: bytes | None, held: bytes) -> bool | None:
        """Whether the disk is right where it differs from the editor; None when nobody can tell.

        What was changed since the last look is right; a change of the disk counts only when it was a command
        of ours.
        """
        last = self._looks.get(path)
        if last is None:
            return False
        disk_changed, held_changed = last.disk != _digest(disk), last.held != _digest(held)
        if not disk_changed:
            return last.disk_was_right and not held_changed
        return True if not held_changed and last.commands != self._commands else None


def _digest(data: bytes | None) -> bytes:
    return b"" if data is None else hashlib.blake2b(data, digest_size=16).digest()
